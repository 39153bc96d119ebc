export type ByteRange = { start: number; end: number } | 'unsatisfiable' | null;

/**
 * Parses a Range header for a file of `size` bytes; `end` is inclusive. null means the whole file: no header,
 * another unit, several ranges or invalid ones may all be ignored (RFC 9110 14.2).
 */
export function parseRange(header: string | undefined, size: number): ByteRange {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (!match) return null;
  const [, from = '', to = ''] = match;
  if (from === '') {
    if (to === '') return null;
    const length = Number(to);
    if (length === 0 || size === 0) return 'unsatisfiable';
    return { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(from);
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== '' && Number(to) < start) return null;
  return start >= size ? 'unsatisfiable' : { start, end };
}
