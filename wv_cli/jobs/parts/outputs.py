"""The output files of a training."""

from dataclasses import dataclass

from wv_cli.jobs.part import Part


@dataclass(frozen=True, kw_only=True)
class Outputs(Part):
    outputs: tuple[str, ...] = ()

    def results(self) -> list[str]:
        return list(self.outputs)
