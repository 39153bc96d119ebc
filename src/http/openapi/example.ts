import { isJson } from './json.ts';

/**
 * A value that a schema takes: its own example, or one that is made of the examples of its parts.
 *
 * @param fills whether members that may be absent are there, as in answers.
 */
export function exampleOf(schema: object, fills: boolean): unknown {
  const node = { ...schema };
  if (!isJson(node)) return null;
  if (Array.isArray(node.examples)) return node.examples[0];
  if ('const' in node) return node.const;
  if ('default' in node) return node.default;
  if (Array.isArray(node.enum)) return node.enum[0];
  for (const key of ['anyOf', 'oneOf']) {
    const options = node[key];
    if (Array.isArray(options) && isJson(options[0])) return exampleOf(options[0], fills);
  }
  const [type] = [node.type].flat();
  if (type === 'object') return exampleObject(node, fills);
  if (type === 'array') return isJson(node.items) ? [exampleOf(node.items, fills)] : [];
  if (type === 'integer' || type === 'number') return node.minimum ?? 1;
  if (type === 'boolean') return true;
  return type === 'string' ? 'text' : null;
}

function exampleObject(node: Record<string, unknown>, fills: boolean): object {
  const required: unknown[] = Array.isArray(node.required) ? node.required : [];
  const members = isJson(node.properties) ? Object.entries(node.properties) : [];
  return Object.fromEntries(
    members
      .filter(([name]) => fills || required.includes(name))
      .map(([name, part]) => [name, isJson(part) ? exampleOf(part, fills) : null]),
  );
}
