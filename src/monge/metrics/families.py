"""Presets beyond the core: barycentres, reference-free, sentence movers, word order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monge.metrics.axes import Against, EncoderSettings, Idf, Layers, Normalise, UnitSettings
from monge.metrics.metric import MetricSpec, Preset
from monge.metrics.rows import (
    BERTSCORE,
    COSINE,
    EUCLIDEAN,
    EXACT,
    INVERSE,
    LAST,
    MOVER_RELEASE_UNITS,
    NO_CENTRE,
    ONE_MINUS,
    RAW,
    SQEUCLIDEAN,
    UNIFORM,
    WMD,
    YISI_1,
    as_published,
)
from monge.transport.readouts import CostReadout, Ordered, Spectrum
from monge.transport.transports import Pruned

CONTENT = UnitSettings(punctuation="drop", stopwords="en")
WMS = replace(WMD, units=CONTENT, normalise=RAW, readout=CostReadout("exp(-cost)"))
WMDO = replace(
    WMD,
    units=UnitSettings(punctuation="drop"),
    ground=COSINE,
    encoder=EncoderSettings(unknown="zero"),
)
ORDERED = Ordered("cost+order")
ROUGE_WE = replace(
    BERTSCORE,
    units=UnitSettings(punctuation="drop", join="product"),
    encoder=EncoderSettings(unknown="zero"),
)

CLARK, CHOW = "Clark et al. 2019", "Chow et al. 2019"
NG = "Ng and Abrecht 2015"

BARYSCORE = MetricSpec(
    layers=Layers(at="last", span=5, pool="barycentre"),
    units=UnitSettings(specials="keep"),
    weights=Idf("idf"),
    centre=NO_CENTRE,
    normalise=Normalise("layers", layers=True),
    ground=SQEUCLIDEAN,
    transport=EXACT,
    readout=Spectrum("cost+tempered"),
)
SOURCE = Against("source")
XMOVER = replace(
    WMD,
    units=UnitSettings(subwords="first", punctuation="drop"),
    ground=SQEUCLIDEAN,
    readout=ONE_MINUS,
    against=SOURCE,
)
COLOMBO, ZHAO_2020 = "Colombo et al. 2021", "Zhao et al. 2020"

_FAMILIES: Mapping[str, Preset] = {
    "rouge-we-1": Preset(
        ROUGE_WE, "ROUGE-1 that matches words by the cosine of their static vectors", NG
    ),
    "rouge-we-2": Preset(
        ROUGE_WE.changed(["units.ngram=2"]),
        "ROUGE-2 that matches word pairs by the cosine of products of static vectors",
        NG,
    ),
    "baryscore": Preset(
        BARYSCORE, "transport between the barycentres of the last five layers: a distance", COLOMBO
    ),
    "baryscore@release": Preset(
        replace(BARYSCORE, layers=replace(BARYSCORE.layers, start="zero"), weights=UNIFORM),
        "the authors' code: zero start, uniform masses (their idf look-up never hits)",
        COLOMBO,
    ),
    "yisi-2": Preset(
        replace(YISI_1, weights=Idf("idf-yisi", corpus="each-side"), against=SOURCE),
        "YiSi-1 against the source, a weight table a side",
        "Lo 2019",
        symmetric=False,
    ),
    "xmoverscore": Preset(
        XMOVER, "exact transport between source and hypothesis, 1 - cost", ZHAO_2020
    ),
    "xmoverscore@v1": Preset(
        replace(XMOVER, layers=LAST, units=MOVER_RELEASE_UNITS),
        "release 1: last layer, specials kept",
        ZHAO_2020,
    ),
    "xmoverscore@v2": Preset(
        replace(
            XMOVER,
            layers=Layers(at=0.67),
            units=UnitSettings(specials="keep", ngram=2, join="mean"),
            ground=EUCLIDEAN,
            transport=Pruned("pruned"),
            readout=INVERSE,
        ),
        "release 2: layer 8 of 12, bigrams, the smallest flows dropped, 1/(1+cost)",
        ZHAO_2020,
    ),
    "wms": Preset(WMS, "word mover's similarity of content words, exp(-cost)", CLARK),
    "sms": Preset(
        replace(WMS, units=replace(CONTENT, bag="sentences")),
        "sentence mover's similarity: sentences weigh their content words",
        CLARK,
    ),
    "s+wms": Preset(
        replace(WMS, units=replace(CONTENT, bag="both")),
        "words and sentences in one bag, half of the mass each",
        CLARK,
    ),
    "wmdo": Preset(
        replace(WMDO, readout=ORDERED),
        "word mover's distance plus a penalty for broken word order and unknown words",
        CHOW,
        symmetric=False,
    ),
    "wmdo@release": Preset(
        replace(WMDO, readout=replace(ORDERED, chunks="all")),
        "the authors' code: equal words first, and every chunk counts, so an equal text of n words "
        "costs .18 / n",
        CHOW,
        symmetric=False,
        lacks={"identity": "the first chunk counts too, so an equal text of n words costs .18 / n"},
    ),
}
FAMILIES = as_published(_FAMILIES)
