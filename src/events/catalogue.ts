import type { Static, TObject } from 'typebox';
import { compileSchema } from '../platform/schema-validator.ts';

/**
 * A declared event type. Features declare theirs in `events.ts`; the root gathers them. Whoever appends one or
 * listens for one names its definition, so that the compiler knows the shape of its data.
 */
export interface EventDefinition<D extends TObject = TObject> {
  /** Dotted, lower case: `stream.broadcast_started`. */
  readonly type: string;
  readonly description: string;
  /** The shape of `data`. */
  readonly data: D;
  /** Valid `data`, for simulations and the documentation. */
  readonly sample: Static<D>;
  /** Absent where people are not told of such events. */
  readonly notice?: EventNotice<D>;
}

export type Severity = 'INFO' | 'WARNING' | 'CRITICAL';

/** What events of one type say to people. */
export interface EventNotice<D extends TObject = TObject> {
  readonly severity: Severity;
  /** @returns null for an event that nobody needs to be told of. */
  words(data: Static<D>): NoticeText | null;
}

export interface NoticeText {
  /** One line, without a full stop. */
  title: string;
  body: string;
  resource: { type: string; id: string };
}

/** Declares an event type; the sample is checked against the shape by the compiler and by a test. */
export function defineEvent<D extends TObject>(definition: EventDefinition<D>): EventDefinition<D> {
  return definition;
}

export interface EventCatalogue {
  /** Every type, sorted: the answer of `GET /me/webhooks/events`. */
  types(): readonly string[];
  /** In the same order, for the documentation. */
  readonly definitions: readonly EventDefinition[];
  get(type: string): EventDefinition | undefined;
  /** Do these patterns subscribe to the type? No pattern at all subscribes to everything. */
  matches(patterns: readonly string[], type: string): boolean;
  /** Is this a type, or a `prefix.*` that matches at least one? */
  isPattern(pattern: string): boolean;
  /** Is this the very definition that was gathered? */
  has(definition: EventDefinition): boolean;
  /** @returns what is wrong with the data of this type, or null; an unknown type is wrong as well. */
  refuse(type: string, data: unknown): string | null;
}

const TYPE = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

/**
 * Every pattern that subscribes to a type: itself and its prefixes, `a.b.c`, `a.*`, `a.b.*`. An empty list
 * of patterns does too.
 */
export function patternsOf(type: string): string[] {
  const segments = type.split('.');
  const prefixes = segments.slice(1).map((_, index) => `${segments.slice(0, index + 1).join('.')}.*`);
  return [type, ...prefixes];
}

/** @throws {Error} for a malformed or repeated type. */
export function createCatalogue(definitions: readonly EventDefinition[]): EventCatalogue {
  const known = new Map<string, { definition: EventDefinition; refuse: (data: unknown) => string | null }>();
  for (const definition of definitions) {
    const { type, data } = definition;
    if (!TYPE.test(type)) throw new Error(`"${type}" is not an event type`);
    if (known.has(type)) throw new Error(`the event ${type} is declared twice`);
    const shape = compileSchema(data);
    const refuse = (value: unknown) => {
      const fault = shape.firstError(value);
      return fault === null ? null : `data${fault}`;
    };
    known.set(type, { definition, refuse });
  }
  const types = [...known.keys()].sort();
  const byType = definitions.toSorted((a, b) => (a.type < b.type ? -1 : 1));
  const patterns = new Set(types.flatMap(patternsOf));
  return {
    types: () => types,
    definitions: byType,
    get: (type) => known.get(type)?.definition,
    has: (definition) => known.get(definition.type)?.definition === definition,
    matches: (given, type) => given.length === 0 || patternsOf(type).some((one) => given.includes(one)),
    isPattern: (pattern) => patterns.has(pattern),
    refuse: (type, data) => {
      const event = known.get(type);
      return event === undefined ? `the event ${type} is not in the catalogue` : event.refuse(data);
    },
  };
}
