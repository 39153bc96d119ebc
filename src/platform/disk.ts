const TROUBLES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']);

/**
 * Has the disk no room, or does it fail? Then the file that was written is not at fault, and waiting may help.
 * Looks at the causes too.
 */
export function isDiskTrouble(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && TROUBLES.has(error.code)) || isDiskTrouble(error.cause);
}
