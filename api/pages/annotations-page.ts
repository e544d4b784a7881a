// docs/annotations.md: every annotation and label of the group, what it means, and whether a person may set it.
import { type AnnotationDescription, noteAnnotations, orderAnnotations } from "../annotations.ts";
import { backupFinalizer, finalizer, labels, reportingController, restoreFinalizer } from "../labels.ts";

export function annotationsPage(): string {
  return [
    "# Annotations and labels",
    "",
    "Made from `api/annotations.ts` and `api/labels.ts` by `make manifests`; changes here are lost.",
    "",
    "NAME is the name of the SampleDB. A user's `spec.podMetadata` can't set a name of this group.",
    "",
    "## Orders",
    "A person writes them on a SampleDB, and the operator carries them out. An order that must wait is a blocker of the SampleDB. An order that",
    "can't be carried out is dropped, and an Event says why ([reasons](reasons.md)).",
    "",
    "    kubectl annotate sampledb NAME ANNOTATION=VALUE",
    "    kubectl annotate sampledb NAME ANNOTATION-          # takes it off",
    "",
    ...annotationTable(Object.values(orderAnnotations)),
    "",
    "## Notes",
    "The operator writes them to remember something beside the object that it concerns. A person reads them, and changes none but where the last",
    "column says so.",
    "",
    ...annotationTable(Object.values(noteAnnotations)),
    "",
    "## Labels",
    "A person selects by them and sets none of them: a wrong one takes an object out of the operator's sight.",
    "",
    "| label | on | written by | meaning |",
    "|---|---|---|---|",
    ...Object.values(labels).map(({ name, on, writtenBy, meaning }) => `| \`${name}\` | ${on} | ${writtenBy} | ${meaning} |`),
    "",
    "## Other names",
    "| name | |",
    "|---|---|",
    `| \`${finalizer}\` | The finalizer of every SampleDB. The operator takes it off when the instances have stopped in order. |`,
    `| \`${backupFinalizer}\` | The finalizer of every Backup. The operator takes it off when the artefact is removed, or is to stay. |`,
    `| \`${restoreFinalizer}\` | The finalizer of every Restore. The operator takes it off when nothing half-made is left. |`,
    `| \`${reportingController}\` | The reporting controller of the operator's Events. |`,
    "",
  ].join("\n");
}

function annotationTable(descriptions: readonly AnnotationDescription[]): string[] {
  return [
    "| annotation | on | written by | meaning | by hand |",
    "|---|---|---|---|---|",
    ...descriptions.map(({ name, on, writtenBy, meaning, byHand }) => `| \`${name}\` | ${on} | ${writtenBy} | ${meaning} | ${byHand} |`),
  ];
}
