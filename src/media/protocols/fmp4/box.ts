/** A box (ISO/IEC 14496-12 4.2) around its content. */
export function box(type: string, ...content: readonly (Buffer | readonly number[])[]): Buffer {
  const parts = content.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part)));
  const head = Buffer.alloc(8);
  const made = Buffer.concat([head, ...parts]);
  made.writeUInt32BE(made.length, 0);
  made.write(type, 4, 'latin1');
  return made;
}

/** A box with a version and flags. */
export function fullBox(type: string, version: number, flags: number, ...content: Buffer[]): Buffer {
  return box(type, u32(version * 2 ** 24 + flags), ...content);
}

export function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
