"""Edge lists as people write them: the right agents, or a refusal, never two agents more."""

import pytest

from mtcool.graphs.files import read_edges, read_graph

READ = {
    "plain": ("a,b\nb,c\na,c\n", {("a", "b"), ("b", "c"), ("a", "c")}),
    "header": ("source,target\n1,2\n2,3\n", {("1", "2"), ("2", "3")}),
    "header below a comment": ("# my file\nsource,target\n1,2\n2,3\n", {("1", "2"), ("2", "3")}),
    "other columns first": ("id,from,to\n1,a,b\n2,b,c\n", {("a", "b"), ("b", "c")}),
    "columns in another order": ("Target,weight,Source\na,1,b\n", {("a", "b")}),
    "an edge below a comment": ("#\ni,j\nj,k\nk,i\n", {("i", "j"), ("j", "k"), ("i", "k")}),
    "quotes and a name of two lines": (
        '# it\n"a, the first",b\n"b\nc", d\n',
        {("a, the first", "b"), ("b\nc", "d")},
    ),
    "semicolons, with a comma in a name": ("a;b\nc,d;b\n", {("a", "b"), ("b", "c,d")}),
    "capitals and a mark": ("\ufeffSource,Target\r\na,b\r\n", {("a", "b")}),
}


@pytest.mark.parametrize("name", READ)
def test_edges_are_those_of_the_file(name, tmp_path):
    text, edges = READ[name]
    path = tmp_path / "net.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert {tuple(sorted(edge)) for edge in read_edges(path)} == edges
    graph = read_graph(path)
    assert set(graph.labels) == {agent for edge in edges for agent in edge}
    assert graph.edge_count == len(edges)


REFUSED = {
    "an empty name": ("a,b\na,\n", "line 2 must name two agents, got 'a,'"),
    "one name": ("a,b\na\n", "line 2 must name two agents, got 'a'"),
    "a header that names agents": ("i,j\nj,k\nk,i\n", "which names agents of other lines; put a"),
    "a header or an edge": ("x,y\na,b\nb,c\n", "the first line may be a header or an edge"),
    "a field without an end": (
        "a," + "b" * 200_000 + "\n",
        "line 1 must be a row of a table: field larger",
    ),
    "a quote without an end": ('a,b\n"c,d\ne,f\n', "line 2 must be a row of a table"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_names_no_two_agents_is_refused(name, tmp_path):
    text, words = REFUSED[name]
    path = tmp_path / "net.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_edges(path)


def test_a_header_alone_has_no_edges(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("source,target\n")
    assert len(read_edges(path)) == 0
