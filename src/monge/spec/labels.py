"""What the metrics of one run are called: names that are told apart by what differs between them.

Names that differ already stay as they were given. Where one name stands for several settings, each gets the changes
that lead from the row of that name to its settings, without those that all of them share:
`twmd`, `twmd[transport=exact]`, `twmd[layers=3,transport.temperature=0.1]`. Such a label reads back as a metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from monge.spec.axes import AXES
from monge.spec.blend import BLENDS, BlendSpec
from monge.spec.codec import settable
from monge.spec.lexical import LexicalSpec
from monge.spec.metric import MetricSpec, differences
from monge.spec.presets import Spec, row, split_name
from monge.types.settings import NAME


def labels(names_and_specs: Iterable[tuple[str, Spec]]) -> list[str]:
    """A different label for every metric of a run, in order.

    A name is NAME, NAME@PROFILE or NAME[changes]. Models and files are called by the last part of their path where
    that tells them apart. The same settings under the same name are numbered: `twmd`, `twmd (2)`.
    """
    given = [(name.strip(), spec) for name, spec in names_and_specs]
    often = Counter(name for name, _ in given)
    found = [name for name, _ in given]
    for name, count in often.items():
        if count > 1:
            places = [k for k, (other, _) in enumerate(given) if other == name]
            for k, label in zip(places, _told_apart(name, [given[k][1] for k in places]), strict=True):
                found[k] = label
    return found


def _told_apart(name: str, specs: Sequence[Spec]) -> list[str]:
    """Labels of several settings under one name."""
    bare = split_name(name)[0]
    changes = [changes_from_row(bare, spec) for spec in specs]
    shared = set.intersection(*(set(one) for one in changes))
    own = [[change for change in one if change not in shared] for one in changes]
    short = [[_shorten_path(change) for change in one] for one in own]
    shown = short if len({tuple(one) for one in short}) == len({tuple(one) for one in own}) else own
    found = [f"{bare}[{','.join(one)}]" if one else bare for one in shown]
    seen: Counter[str] = Counter()
    for k, label in enumerate(found):
        seen[label] += 1
        found[k] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return found


def _shorten_path(change: str) -> str:
    """Keep only the last part of a path, in a change whose setting takes a name or a file."""
    target, _, value = change.partition("=")
    axis, _, name = target.rpartition(".")
    choices = AXES.get(axis.rpartition(".")[2], {}).values()  # what is before it is the member of a blend
    kinds = [settable(choice)[name].metadata["kind"] for choice in choices if name in settable(choice)]
    return f"{target}={PurePath(value).name}" if NAME in kinds else change


def changes_from_row(name: str, spec: Spec) -> list[str]:
    """The changes `AXIS=CHOICE`, `AXIS.FIELD=VALUE` or `OPTION=VALUE` from the row of a name to a spec."""
    if isinstance(spec, LexicalSpec):
        usual = LexicalSpec(spec.name).written()
        return [f"{option}={value}" for option, value in spec.written().items() if value != usual[option]]
    if isinstance(spec, BlendSpec):
        own = {member: _axis_changes(BLENDS[name].spec.members[member], one) for member, one in spec.members.items()}
        shared = [change for change in next(iter(own.values())) if all(change in one for one in own.values())]
        rest = [f"{member}.{change}" for member, one in own.items() for change in one if change not in shared]
        return [*shared, *rest]
    return _axis_changes(row(name).spec, spec)


def _axis_changes(base: MetricSpec, spec: MetricSpec) -> list[str]:
    written = spec.written()
    found = []
    for target in differences(base, spec):
        axis, dot, field = target.partition(".")
        choice = spec.choice(axis)
        if dot:
            found.append(_field_change(spec, axis, field))
        elif axis == "layers":
            found.append(f"layers={written[axis]}")
        else:
            usual = AXES[axis][choice.name]
            found.append(f"{axis}={choice.name}")
            found += [
                _field_change(spec, axis, one)
                for one in settable(choice)
                if getattr(choice, one) != getattr(usual, one)
            ]
    return found


def _field_change(spec: MetricSpec, axis: str, field: str) -> str:
    choice = spec.choice(axis)
    return f"{axis}.{field}={settable(choice)[field].metadata['kind'].show(getattr(choice, field))}"
