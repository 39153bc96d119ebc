import { isJson, type Json } from '../../src/http/openapi/json.ts';

/** Returns an OpenAPI document with every reference replaced by its target; ours have no cycles. */
export function resolved(document: Json): Json {
  const known = new Map<string, unknown>();
  const at = (ref: string): unknown => {
    const found = known.get(ref);
    if (found !== undefined) return found;
    let target: unknown = document;
    for (const segment of ref.slice(2).split('/')) target = isJson(target) ? target[segment] : undefined;
    if (target === undefined) throw new Error(`${ref} points to nothing`);
    const value = replace(target);
    known.set(ref, value);
    return value;
  };
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace);
    if (!isJson(value)) return value;
    const { $ref, ...beside } = value;
    const parts = Object.fromEntries(Object.entries(beside).map(([key, part]) => [key, replace(part)]));
    if (typeof $ref !== 'string') return value.$ref === undefined ? parts : { ...parts, $ref };
    const target = at($ref);
    return isJson(target) ? { ...target, ...parts } : target;
  };
  const whole = replace(document);
  if (!isJson(whole)) throw new Error('the document is no object');
  return whole;
}
