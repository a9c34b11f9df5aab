"""The page in a real browser: its numbers are those of the network, and nothing comes from afar."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import urlsplit

import pytest
from nicegui import Client
from playwright.sync_api import expect, sync_playwright

from live.small_network import PRIVATE, small
from live.stage import Stage, launched
from mtcool.live.counts import without_overhead
from mtcool.live.page import page as one_page
from mtcool.live.page import watching
from mtcool.live.page.formatting import number, percent, size

pytestmark = pytest.mark.browser

expect.set_options(timeout=60_000)  # milliseconds; the machine may have other work to do
FIRST_PAINT = 2000
"""Milliseconds."""
PATIENT = {"rows": 5.0, "delivery": 5.0}
"""Seconds: who stands still for a moment is not called silent, for good if nobody asks again."""


@pytest.fixture(scope="module")
def stage():
    """A page that looks and draws more often, so that nobody waits for it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(watching, "EVERY", 0.3)
        patched.setattr(one_page, "DRAWN", 0.3)
        stage = Stage()
        yield stage
        stage.close()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture
def page(browser):
    """A page that has met no error when the test is over."""
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    page, wrong = context.new_page(), []
    page.set_default_timeout(60_000)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    assert not wrong


def words(page, name, expected):
    """The element of this name says exactly this, soon."""
    expect(page.get_by_test_id(name)).to_have_text(expected)


def drawn(page, script):
    return page.evaluate(f"() => {{ const all = mtcool.state; return {script}; }}")


def place_of_node(page, name):
    """Where on the page a node of the graph is."""
    script = """(name) => {
        if (!mtcool.state.values) return false;
        const k = mtcool.state.shape.nodes.findIndex((node) => node[0] === name);
        if (k < 0) return false;
        const drawn = getElement(mtcool.state.ids.graph).chart;
        const at = drawn.getModel().getSeriesByIndex(0).getData().getItemLayout(k);
        if (!at) return false;
        const place = drawn.convertToPixel({ seriesIndex: 0 }, [at[0], at[1]]);
        const box = drawn.getDom().getBoundingClientRect();
        const now = [...place, box.x, box.y, box.width, box.height].join();
        const still = mtcool.seenAt === now && Math.abs(drawn.getWidth() - box.width) < 2;
        mtcool.seenAt = now;
        return still && place;
    }"""
    # The chart has its size a little later: until it has, and nothing has moved for a moment.
    found = page.wait_for_function(script, arg=str(name), polling=150)
    x, y = found.json_value()
    box = page.get_by_test_id("chart-graph").bounding_box()
    return box["x"] + x, box["y"] + y


def test_the_numbers_on_the_page_are_those_of_the_network(stage, page, tmp_path):
    demo = stage.show(small(tmp_path))
    for rounds in (60, 90):
        stage.do(demo.play(rounds, seed=rounds))
        stage.do(demo.delivered())
        stage.look()
        if rounds == 60:
            page.goto(stage.url)
        counts = [node.counts for node in demo.nodes.values()]
        paid = [paid for count in counts for paid in count.paid.values()]
        total = sum(one.count for one in paid)
        loss, alone = (sum(getattr(one, name) for one in paid) for name in ("loss", "alone"))
        activations = sum(sum(node.host.learned.values()) for node in demo.nodes.values())
        messages = sum(without_overhead(count.sent.messages) for count in counts)
        words(page, "activations", f"{activations:,}")
        words(page, "loss", number(loss / total))
        words(page, "loss-note", f"alone {number(alone / total)}")
        words(page, "gain", percent(1 - loss / alone))
        words(page, "messages", f"{messages:,}")
        words(page, "bytes", size(sum(without_overhead(count.sent.bytes) for count in counts)))
        words(page, "outbox", "0")
        words(page, "refused", "0")
        words(page, "network", "small")
        words(page, "state", "3 of 3 hosts answer, 6 agents")
        assert activations == 60 if rounds == 60 else 150
        agents = {agent: paid for count in counts for agent, paid in count.paid.items()}
        losses = [agents[k].loss / agents[k].count for k in range(6)]
        page.wait_for_function(
            """(wanted) => mtcool.state.values?.loss.every(
                (loss, k) => Math.abs(loss - wanted[k]) < 1e-4 * wanted[k])""",
            arg=losses,
        )


def test_images_on_pages_of_other_sites_make_no_pages(stage, browser, tmp_path):
    stage.show(small(tmp_path))
    context = browser.new_context()
    other = context.new_page()
    done, before = [], len(Client.instances)
    for event in ("requestfinished", "requestfailed"):
        other.on(event, lambda request: done.append(request))
    images = "".join(f'<img src="{stage.url}/?{k}">' for k in range(5))
    other.set_content(images + f'<iframe src="{stage.url}/?frame"></iframe>')
    end = time.monotonic() + 60.0
    while len(done) < 6:
        other.wait_for_timeout(50)
        assert time.monotonic() < end
    assert len(Client.instances) == before
    other.set_content(f'<a href="{stage.url}">there</a>')  # who leaves for the page is let in
    other.get_by_text("there").click()
    expect(other.get_by_test_id("network")).to_have_text("small")
    context.close()


def test_charts_show_the_points_and_only_new_ones_are_sent(stage, page, tmp_path):
    demo, sent = stage.show(small(tmp_path)), []
    for _ in range(4):
        stage.do(demo.play(12))
        stage.look()

    def listen(socket):
        socket.on("framereceived", lambda content: sent.append(content))

    page.on("websocket", listen)
    page.goto(stage.url)
    page.wait_for_function("() => mtcool.state.points.length > 6")
    seen = page.evaluate("() => mtcool.state.points")
    times = [row[0] for row in seen]
    assert times == sorted(set(times))
    known = list(stage.watch.network.points.rows)
    for row in seen:
        point = min(known, key=lambda one: abs(one.time - row[0]))
        assert point.time == pytest.approx(row[0], abs=0.002)
        for got, wanted in zip(row[1:], point[1:], strict=True):
            if wanted is None or wanted != wanted:
                assert got is None
            else:
                assert got == pytest.approx(wanted, rel=1e-4)
    told = [row[0] for text in map(str, sent) for row in points_in(text)]
    assert len(told) > 2
    assert told == sorted(set(told))  # no point twice
    page.get_by_test_id("chart-outbox").scroll_into_view_if_needed()
    chart = "getElement(all.ids.outbox).chart.getOption().series[0].data"
    page.wait_for_function(
        f"() => {{ const all = mtcool.state; return {chart}.length === all.points.length; }}"
    )
    assert [pair[1] for pair in drawn(page, chart)][: len(seen)] == [row[10] for row in seen]


def test_charts_out_of_sight_are_not_drawn_until_they_are_seen(stage, page, tmp_path):
    stage.show(small(tmp_path))
    page.goto(stage.url)
    chart = "const all = mtcool.state, chart = getElement(all.ids.learn)?.chart;"
    length = "chart?.getOption().series[0].data.length"
    page.wait_for_function(f"() => {{ {chart} return {length} + 3 < all.points.length; }}")
    page.get_by_test_id("chart-learn").scroll_into_view_if_needed()
    page.wait_for_function(f"() => {{ {chart} return {length} === all.points.length; }}")


def points_in(frame):
    found = re.search(r"mtcool\.points\((\[\[.*?\]\])\)", frame)
    return json.loads(found[1].replace("\\", "")) if found else []


def test_no_request_leaves_the_machine_and_nothing_may(stage, page, tmp_path):
    stage.show(small(tmp_path))
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("websocket", lambda socket: asked.append(socket.url))
    answer = page.goto(stage.url)
    expect(page.get_by_test_id("press-host0")).to_be_visible()
    page.wait_for_timeout(1500)
    assert len(asked) > 10
    here = urlsplit(stage.url).netloc
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {here}
    assert any(url.startswith("ws://") for url in asked)
    policy = answer.header_value("content-security-policy")
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy


def test_the_first_paint_comes_within_two_seconds(stage, browser, tmp_path):
    stage.show(small(tmp_path))
    painted = []
    for _ in range(3):  # other tests run beside this one: the best of three
        context = browser.new_context()
        page = context.new_page()
        page.goto(stage.url)
        expect(page.get_by_test_id("press-host0")).to_be_visible()
        entry = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
        painted.append(page.wait_for_function(entry, timeout=60_000).json_value())
        context.close()
    assert min(painted) < FIRST_PAINT


def test_a_click_shows_an_agent_its_history_and_its_neighbours(stage, page, tmp_path):
    demo = stage.show(small(tmp_path, timing=PATIENT))
    stage.do(demo.play(48))
    stage.look()
    page.goto(stage.url)
    expect(page.get_by_test_id("agent-empty")).to_be_visible()
    page.mouse.click(*place_of_node(page, 2))
    words(page, "agent-name", "Agent 2")
    told = next(one for one in demo.nodes["host1"].status()["agents"] if one["agent"] == 2)
    words(page, "agent-host", "host1")
    words(page, "agent-health", "well")
    words(page, "agent-activations", "8")
    words(page, "agent-loss", number(told["loss"]))
    words(page, "agent-alone", number(told["alone"]))
    expect(page.get_by_test_id("agent-neighbours").get_by_role("button")).to_have_text(["1", "3"])
    page.wait_for_function("() => mtcool.state.agent.length > 1")
    assert drawn(page, "all.agent.at(-1)[1]") == pytest.approx(told["loss"])
    page.wait_for_function("() => mtcool.state.selected === 2")
    page.get_by_test_id("agent-neighbours").get_by_text("3").click()
    words(page, "agent-name", "Agent 3")
    expect(page.get_by_test_id("agent-neighbours").get_by_role("button")).to_have_text(["2", "4"])


def test_buttons_kill_restart_cut_and_heal(stage, page, tmp_path):
    demo = stage.show(small(tmp_path))
    stage.do(demo.play(12))
    page.goto(stage.url)
    page.get_by_test_id("press-host1").click()
    words(page, "state-host1", "killed")
    words(page, "press-host1", "Restart")
    assert "host1" not in demo.nodes
    words(page, "state", "2 of 3 hosts answer, 6 agents")
    page.wait_for_function("() => mtcool.state.values?.health[2] === 'down'")
    page.wait_for_function("() => mtcool.state.values?.broken.some((one) => one)")
    page.get_by_test_id("press-host1").click()
    words(page, "state-host1", "2 agents")
    words(page, "press-host1", "Kill")
    page.wait_for_function("() => mtcool.state.values?.health[2] === 'well'")

    page.get_by_test_id("press-host0-host2").click()
    words(page, "press-host0-host2", "Heal")
    stage.do(demo.play(6))  # agents 0 and 5 are neighbours across this link
    words(page, "state-host0-host2", "cut, 2 waiting")
    words(page, "outbox", "2")
    page.wait_for_function("() => mtcool.state.values?.health[0] === 'cut off'")
    page.get_by_test_id("press-host0-host2").click()
    words(page, "press-host0-host2", "Cut")
    words(page, "outbox", "0")
    page.wait_for_function("() => mtcool.state.values?.health[0] === 'well'")
    words(page, "activations", "18")


def test_colours_are_those_of_loss_gain_or_health(stage, page, tmp_path):
    demo = stage.show(small(tmp_path, timing=PATIENT))
    stage.do(demo.play(48))
    stage.do(demo.delivered())
    stage.look()
    page.goto(stage.url)
    page.wait_for_function("() => mtcool.state.values?.gain[0] !== undefined")
    colours = """() => getElement(mtcool.state.ids.graph).chart.getOption().series[0].data
        .map((node) => node.itemStyle.color)"""
    found = {}
    for mode in ("Loss", "Gain", "Health"):
        page.get_by_test_id("mode").get_by_text(mode).click()
        page.wait_for_function("(mode) => mtcool.state.mode === mode", arg=mode.lower())
        found[mode] = page.evaluate(colours)
    assert len(set(found["Loss"])) > 3
    assert len(set(found["Gain"])) > 3
    assert len(set(found["Health"])) == 1
    assert found["Loss"] != found["Gain"]
    legend = page.locator(".mt-legend")
    expect(legend).to_have_text("well")
    stage.do(demo.kill("host2"))
    expect(legend).to_contain_text("down")


def test_edges_end_at_their_agents(stage, page, tmp_path):
    """A ring of six has two that are level."""
    stage.do(stage.show(small(tmp_path)).play(24))
    page.goto(stage.url)
    words(page, "activations", "24")
    place_of_node(page, 0)  # it is drawn
    script = """() => {
        const series = getElement(mtcool.state.ids.graph).chart.getModel().getSeriesByIndex(0);
        const [nodes, edges] = [series.getData(), series.getEdgeData()];
        return mtcool.state.shape.edges.map(([one, other], k) => {
            const line = edges.getItemGraphicEl(k).childAt(0), box = line.getBoundingRect();
            const [a, b] = [one, other].map((i) => nodes.getItemLayout(i));
            const apart = [box.x + box.width / 2 - (a[0] + b[0]) / 2,
                box.y + box.height / 2 - (a[1] + b[1]) / 2];
            return Math.hypot(...apart) * line.getGlobalScale()[0];
        });
    }"""
    apart = page.evaluate(script)
    assert len(apart) == 6
    assert max(apart) < 4.0  # pixels; ends stop at the rims of agents


@pytest.mark.parametrize("width", [1440, 768, 320])
def test_what_a_tile_says_is_not_cut_off(stage, browser, width, tmp_path):
    stage.do(stage.show(small(tmp_path)).play(24))
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(stage.url)
    words(page, "activations", "24")
    longest = "alone 0.2609, pooled 0.2499, and whatever else there may be to say"
    script = """([note, words]) => {
        note.textContent = words;
        return note.scrollWidth <= note.clientWidth && note.scrollHeight <= note.clientHeight;
    }"""
    note = page.get_by_test_id("loss-note").element_handle()
    assert page.evaluate(script, [note, longest])
    context.close()


@pytest.mark.parametrize("width", [1440, 1000, 768, 390, 320])
def test_nothing_sticks_out_or_overlaps_at_any_width(stage, browser, width, tmp_path):
    demo = stage.show(small(tmp_path))
    stage.do(demo.play(24))
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(stage.url)
    words(page, "activations", "24")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tiles = [tile.bounding_box() for tile in page.locator(".mt-tile").all()]
    in_a_row = 4 if width > 640 else 2  # of eight: none stands alone
    assert [round(tile["x"]) for tile in tiles] == [
        round(tiles[k % in_a_row]["x"]) for k in range(len(tiles))
    ]
    assert len({tile["y"] for tile in tiles}) == len(tiles) / in_a_row
    boxes = [card.bounding_box() for card in page.locator(".mt-card:visible").all()]
    assert len(boxes) > 15
    for k, one in enumerate(boxes):
        for other in boxes[:k]:
            apart = (
                one["x"] >= other["x"] + other["width"] - 1
                or other["x"] >= one["x"] + one["width"] - 1
                or one["y"] >= other["y"] + other["height"] - 1
                or other["y"] >= one["y"] + one["height"] - 1
            )
            assert apart
    context.close()


def test_light_and_dark_are_those_of_the_system_unless_chosen(stage, browser, tmp_path):
    stage.show(small(tmp_path))
    ground = "getComputedStyle(document.body).backgroundColor"
    for scheme, expected in (("light", "rgb(244, 245, 247)"), ("dark", "rgb(18, 22, 28)")):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        page.goto(stage.url)
        page.wait_for_function(f"() => {ground} === '{expected}'")
        context.close()
    page = browser.new_context(color_scheme="light").new_page()
    page.goto(stage.url)
    page.get_by_test_id("theme").get_by_text("Dark").click()
    page.wait_for_function(f"() => {ground} === 'rgb(18, 22, 28)'")
    page.context.close()


def test_a_network_that_has_not_answered_is_no_error(stage, page):
    stage.say({"rome": None, "oslo": None})
    page.goto(stage.url)
    words(page, "state", "0 of 2 hosts answer, 0 agents")
    words(page, "network", "A network that has not answered yet")
    words(page, "state-rome", "has not answered yet")
    words(page, "loss", "–")
    page.wait_for_timeout(1200)


def test_private_agents_show_what_is_left(stage, page, tmp_path):
    demo = stage.show(small(tmp_path, **PRIVATE))
    stage.do(demo.play(60))
    stage.look()
    page.goto(stage.url)
    expect(page.get_by_test_id("chart-left")).to_be_visible()
    page.wait_for_function("() => mtcool.state.points.at(-1)?.at(-1) === 0.8")
    page.mouse.click(*place_of_node(page, 0))
    words(page, "agent-left", "80 %")


def test_the_page_of_private_agents_says_why_it_has_no_losses(stage, page, tmp_path):
    demo = stage.show(small(tmp_path, hosts=1, **PRIVATE))
    stage.do(demo.play(12))
    stage.look()
    page.goto(stage.url)
    words(page, "activations", "12")
    words(page, "loss", "–")
    words(page, "loss-note", "not published")
    expect(page.get_by_test_id("no-losses")).to_contain_text("targets follow from losses")


def test_names_are_shown_as_they_are(stage, page, tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    edges = {"kind": "edges", "edges": [[evil, "rome"]]}
    demo = stage.show(small(tmp_path, hosts=2, graph=edges))
    stage.do(demo.play(4))
    page.goto(stage.url)
    x, y = place_of_node(page, evil)
    page.mouse.move(x, y)
    page.mouse.click(x, y)
    words(page, "agent-name", f"Agent {evil}")
    page.wait_for_timeout(500)
    assert page.locator("img[src=x]").count() == 0


def test_one_process_has_one_page(stage):
    from fastapi import FastAPI

    from mtcool.live.page import show_on

    with pytest.raises(ValueError, match="only one of this process"):
        show_on(FastAPI(), stage.watch)


def test_looking_goes_on_when_the_page_is_closed(stage, page, tmp_path):
    stage.show(small(tmp_path))
    page.goto(stage.url)
    page.close()
    before = len(stage.watch.network.points.rows)
    end = time.monotonic() + 60
    while len(stage.watch.network.points.rows) == before and time.monotonic() < end:
        time.sleep(0.05)
    assert len(stage.watch.network.points.rows) > before
