/** Below the files of the workspace, so that they go with it. @param id of one archive; none: of all. */
export function exportKey(workspaceId: string, id: string): string {
  return `${exportFolder(workspaceId)}${id}.zip`;
}

/** With a slash at the end. */
export function exportFolder(workspaceId: string): string {
  return `w/${workspaceId}/exports/`;
}
