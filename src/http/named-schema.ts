import type { Static, TSchema } from 'typebox';

const components = new Map<string, TSchema>();

/**
 * Gives a shape its name in the OpenAPI document: wherever the same shape stands, the document refers to it.
 *
 * @param examples valid values; the first is the example of the operations that take or answer the shape.
 * @throws {Error} when another shape has the name: a mistake in the program.
 */
export function namedSchema<S extends TSchema>(name: string, schema: S, ...examples: Static<S>[]): S {
  const component = examples.length === 0 ? schema : Object.assign(schema, { examples });
  const known = components.get(name);
  if (known !== undefined && withoutText(known) !== withoutText(component)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  components.set(name, component);
  return component;
}

/** Every named shape; one that is part of another comes before it. */
export function namedSchemas(): ReadonlyMap<string, TSchema> {
  return components;
}

/**
 * Returns the schema without its texts, which may depend on the composition of the program; its constraints
 * may not.
 */
function withoutText(schema: TSchema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    (key === 'description' && typeof value === 'string') || key === 'examples' ? undefined : value,
  );
}
