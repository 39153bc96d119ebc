/**
 * Bridges: media from a source into a target (docs/concepts/bridges.md, docs/decisions/bridges.md).
 *
 * Terminology: a *source* is the media that is pulled; a *run* is one attempt of a node to deliver it to the
 * *target*.
 */
