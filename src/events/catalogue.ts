import type { Static, TObject } from 'typebox';
import { compileSchema } from '../platform/schema-validator.ts';

/**
 * A declared event type. Features declare theirs in `events.ts`; the composition root collects them. Code
 * that appends or consumes an event refers to its definition, so that the compiler checks the shape of its
 * data.
 */
export interface EventDefinition<D extends TObject = TObject> {
  /** Dotted, lower case: `stream.broadcast_started`. */
  readonly type: string;
  readonly description: string;
  /** The shape of `data`. */
  readonly data: D;
  /** Valid `data`, for simulations and the documentation. */
  readonly sample: Static<D>;
  /** Notification text; absent for events without notifications. */
  readonly notice?: EventNotice<D>;
}

export type Severity = 'INFO' | 'WARNING' | 'CRITICAL';

/** Notification that events of one type create. */
export interface EventNotice<D extends TObject = TObject> {
  readonly severity: Severity;
  /** @returns the text, or null for an event that needs no notification. */
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
  /** All definitions in the order of `types`, for the documentation. */
  readonly definitions: readonly EventDefinition[];
  get(type: string): EventDefinition | undefined;
  /** Reports whether these patterns include the type. An empty list includes every type. */
  matches(patterns: readonly string[], type: string): boolean;
  /** Reports whether this is a type, or a `prefix.*` that matches at least one. */
  isPattern(pattern: string): boolean;
  /** Reports whether this exact definition object is registered. */
  has(definition: EventDefinition): boolean;
  /** @returns a description of the error in the data, or null; an unknown type is an error too. */
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
      return event === undefined ? `the event ${type} is not in the catalog` : event.refuse(data);
    },
  };
}
