import { hash } from 'node:crypto';
import Type, { type TProperties } from 'typebox';
import type { CursorCodec } from '../kernel/cursor.ts';
import { badRequest } from '../kernel/errors.ts';
import type { PageRequest } from '../kernel/page.ts';
import type { Page } from './route.ts';

const MAX = 100;
const DEFAULT = 25;

/** The query parameters of every list (docs/concepts/conventions.md#lists), and the list's own filters. */
export function listQuery<F extends TProperties>(filters: F, max = MAX, byDefault = DEFAULT) {
  return Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: max, default: byDefault, description: 'Page size.' }),
    cursor: Type.Optional(
      Type.String({ description: '`nextCursor` of the previous page, with the same filters.' }),
    ),
    order: Type.Unsafe<'asc' | 'desc'>({
      type: 'string',
      enum: ['asc', 'desc'],
      default: 'desc',
      description: 'Sort order by creation time.',
    }),
    createdAfter: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only items created after this time.' }),
    ),
    createdBefore: Type.Optional(
      Type.String({ format: 'date-time', description: 'Only items created before this time.' }),
    ),
    ...filters,
  });
}

/** Returns the query schema of a short list, which is one page by default. */
export function unpagedListQuery<F extends TProperties>(filters: F) {
  return listQuery(filters, MAX, MAX);
}

interface ListInput {
  limit: number;
  cursor?: string;
  order: 'asc' | 'desc';
  createdAfter?: string;
  createdBefore?: string;
}

/** In UTC: PostgreSQL takes fewer offsets than RFC 3339 has. */
function toUtc(instant: string | undefined): string | null {
  return instant === undefined ? null : Temporal.Instant.from(instant).toString();
}

/** One list of one tenant with one set of filters: a cursor is valid only for it. */
export class ListReader {
  readonly request: PageRequest;
  readonly #codec: CursorCodec;
  readonly #list: string;

  /**
   * @param scope tells lists apart: the operation and the tenant.
   * @throws {AppError} BAD_REQUEST, field `cursor`, for a bad, foreign or filter-changed cursor.
   */
  constructor(codec: CursorCodec, scope: string, input: ListInput) {
    const { limit, cursor, ...filters } = input;
    this.#codec = codec;
    const text = JSON.stringify(Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1)));
    this.#list = hash('sha256', `${scope}\n${text}`, 'base64url');
    const after = cursor === undefined ? null : codec.decode(cursor, this.#list);
    if (cursor !== undefined && after === null) {
      throw badRequest('cursor', 'The cursor is not valid for this list and these filters.');
    }
    this.request = {
      fetchLimit: limit + 1,
      limit,
      order: input.order,
      after,
      createdAfter: toUtc(input.createdAfter),
      createdBefore: toUtc(input.createdBefore),
    };
  }

  /** Cuts the extra row off and turns the last one into the next cursor. */
  page<R extends { id: string }, T>(rows: readonly R[], toOut: (row: R) => T): Page<T> {
    const { limit } = this.request;
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const more = rows.length > limit && last !== undefined;
    return {
      items: shown.map(toOut),
      nextCursor: more ? this.#codec.encode(last.id, this.#list) : null,
      limit,
    };
  }
}
