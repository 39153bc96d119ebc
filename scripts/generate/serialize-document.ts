/** Levels of an OpenAPI document that are broken into lines: section, path or kind, operation or name. */
const BROKEN_LEVELS = 3;

/** Serializes an OpenAPI document with one line per operation, webhook, schema and other component. */
export function serializeDocument(document: object): string {
  return `${serialize(document, 0)}\n`;
}

function serialize(value: unknown, level: number): string {
  if (level === BROKEN_LEVELS || typeof value !== 'object' || value === null) return JSON.stringify(value);
  const indent = ' '.repeat(level);
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(([name, member]) => {
    const text = serialize(member, level + 1);
    return `${indent} ${isList ? text : `${JSON.stringify(name)}: ${text}`}`;
  });
  const [open, close] = isList ? '[]' : '{}';
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
