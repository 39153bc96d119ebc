/** Everything that is kept of a stream lies below it, so that one prefix removes all of it. */
export function dvrFolder(workspaceId: string, streamId: string): string {
  return `w/${workspaceId}/dvr/${streamId}`;
}

interface Located {
  workspace_id: string;
  stream_id: string;
  epoch: string;
}

/** Of a rung: the init segment, or one of its segments. */
export function fileKey({ workspace_id, stream_id, epoch }: Located, rung: string, file: string): string {
  return `${dvrFolder(workspace_id, stream_id)}/${epoch}/${rung}/${file}`;
}

/** The segments of all rungs that share a number. */
export function filesOf(row: Located & { file: string; rungs: Record<string, unknown> }): string[] {
  return Object.keys(row.rungs).map((rung) => fileKey(row, rung, row.file));
}
