/** Returns the prefix of all stored files of a stream, so that one call deletes them. */
export function dvrFolder(workspaceId: string, streamId: string): string {
  return `w/${workspaceId}/dvr/${streamId}`;
}

interface Located {
  workspace_id: string;
  stream_id: string;
  epoch: string;
}

/** Returns the key of the init segment or of a media segment of a rung. */
export function fileKey({ workspace_id, stream_id, epoch }: Located, rung: string, file: string): string {
  return `${dvrFolder(workspace_id, stream_id)}/${epoch}/${rung}/${file}`;
}

/** Returns the files of all rungs that share a segment number. */
export function filesOf(row: Located & { file: string; rungs: Record<string, unknown> }): string[] {
  return Object.keys(row.rungs).map((rung) => fileKey(row, rung, row.file));
}
