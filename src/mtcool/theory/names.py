"""Names for the statements of the paper, for readers who do not have its LaTeX source.

A name says what the statement is about, and where it stands in the paper.
"""

_ANY = "Theorem 3"
_STOCHASTIC = "theorem of Section 3.2"
_PRIVATE = "regret theorem of Section 4"
_KT = "theorem of Appendix C"

NAMES = {
    "eq:regret_indep": "learning alone (Section 2)",
    "thm:mt-ftrl": "MT-FTRL on a clique (Theorem 1)",
    "thm:any-G": f"any graph ({_ANY})",
    "thm:any-G, uniform weights": f"any graph with uniform weights ({_ANY})",
    "thm:any-G, delegation": f"any graph with delegation ({_ANY})",
    "thm:any-G, known variances": f"any graph with known variances (proof of {_ANY})",
    "cor:reggraphs_cliques, regular": "regular graphs (corollary of Section 3.1)",
    "cor:reggraphs_cliques, cliques": "unions of cliques (corollary of Section 3.1)",
    "thm:sto": f"stochastic activations ({_STOCHASTIC})",
    "thm:sto, independence number": f"stochastic activations on any graph ({_STOCHASTIC})",
    "apx:unknown_q": "unknown activation probabilities (theorem of Appendix A.4)",
    "adaptive rates": "any graph, any weights, rates that adapt (docs/bounds.md)",
    "adaptive rates, stochastic activations": "the same in the mean over activations",
    "changing networks": "a network that changes, late and coded messages (docs/bounds.md)",
    "changing networks, KT": "a network that changes, with KT (docs/bounds.md)",
    "thm:lower-bound": "any algorithm, from below (theorem of Section 3.3)",
    "thm:lower-bound, regular": "any algorithm on regular graphs, from below (Section 3.3)",
    "th:reg-DP_anyG": f"private learning ({_PRIVATE})",
    "th:reg-DP_anyG, known variances": f"private learning, known variances ({_PRIVATE}, remark)",
    "th:reg-DP_anyG, noise on every gradient": f"noise on every gradient ({_PRIVATE}, remark)",
    "th:basebound": f"KT ({_KT})",
    "th:basebound, adaptive rates": f"KT with rates that adapt ({_KT}, docs/bounds.md)",
    "th:basebound, stochastic rates": f"KT with stochastic rates ({_KT}, remark)",
    "sec:fail": "the pairwise approach (Appendix A.6)",
    "sec:fail, stochastic rates": "the pairwise approach with stochastic rates (Appendix A.6)",
}
"""By the label that a `Bound` has as its `statement`."""
