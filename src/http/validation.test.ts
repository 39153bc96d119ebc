import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Type from 'typebox';
import { AppError } from '../kernel/errors.ts';
import { Nullable, OneOf } from './schema.ts';
import { assertNoInvalidText, compileInput, type InputPart } from './validation.ts';

const Body = Type.Object({
  name: Type.String({ minLength: 1 }),
  count: Type.Optional(Type.Integer({ minimum: 0 })),
  note: Type.Optional(Nullable(Type.String())),
  size: Type.Optional(OneOf(['SMALL', 'LARGE'] as const)),
  at: Type.Optional(Type.String({ format: 'date-time' })),
  days: Type.Optional(Type.Object({ mon: Type.Array(Type.Object({ start: Type.String() })) })),
  'a/b~c': Type.Optional(Type.Boolean()),
});

function validationError(schema: Type.TSchema, part: InputPart, value: unknown): AppError | null {
  try {
    compileInput(schema, part)(value);
    return null;
  } catch (error) {
    assert.ok(error instanceof AppError);
    return error;
  }
}

describe('a body', () => {
  const cases: [value: unknown, field: string | null][] = [
    [{ name: 'x' }, null],
    [{ name: 'x', unknown: 1 }, null],
    [{ name: 'x', note: null }, null],
    [{ name: '' }, 'name'],
    [{}, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: null }, 'name'],
    [{ name: 'x', count: '1' }, 'count'],
    [{ name: 'x', count: 1.5 }, 'count'],
    [{ name: 'x', count: true }, 'count'],
    [{ name: 'x', count: null }, 'count'],
    [{ name: 'x', note: 5 }, 'note'],
    [{ name: 'x', size: 'small' }, 'size'],
    [{ name: 'x', days: { mon: [{ start: '1' }, { start: 2 }] } }, 'days.mon.1.start'],
    [{ name: 'x', days: { mon: [{}] } }, 'days.mon.0.start'],
    [{ name: 'x', days: {} }, 'days.mon'],
    [{ name: 'x', 'a/b~c': 'yes' }, 'a/b~c'],
    [undefined, 'body'],
    [null, 'body'],
    ['x', 'body'],
    [[], 'body'],
  ];
  for (const [value, field] of cases) {
    test(`${JSON.stringify(value)}: ${field ?? 'taken'}`, () => {
      const error = validationError(Body, 'body', value);
      assert.equal(error?.code ?? null, field === null ? null : 'BAD_REQUEST');
      assert.equal(error?.field ?? null, field);
    });
  }

  const words: [shape: Type.TSchema, value: unknown, message: string][] = [
    [Type.String(), 5, 'x must be a string.'],
    [Nullable(Type.String()), 5, 'x must be a string or null.'],
    [Type.Integer(), '1', 'x must be an integer.'],
    [Type.Boolean(), 'yes', 'x must be true or false.'],
    [Type.Object({}), [], 'x must be an object.'],
    [Type.Array(Type.String()), {}, 'x must be an array.'],
    [OneOf(['SMALL', 'LARGE'] as const), 'S', 'x must be one of: SMALL, LARGE.'],
    [Type.String({ minLength: 1 }), '', 'x must not be empty.'],
    [Type.String({ minLength: 8 }), '', 'x must have at least 8 characters.'],
    [Type.String({ maxLength: 1 }), 'ab', 'x must have at most 1 character.'],
    [Type.Array(Type.Null(), { maxItems: 2 }), [null, null, null], 'x must have at most 2 items.'],
    [Type.Integer({ minimum: 0 }), -1, 'x must be at least 0.'],
    [Type.Integer({ maximum: 9 }), 10, 'x must be at most 9.'],
    [Type.Number({ exclusiveMinimum: 0 }), 0, 'x must be more than 0.'],
    [Type.String({ pattern: '^a$' }), 'b', 'x must match the pattern ^a$.'],
    [Type.String({ format: 'date-time' }), 'now', 'x must be a date-time, such as 2026-11-20T09:00:00Z.'],
    [Type.Object({}, { additionalProperties: false }), { y: 1 }, 'x.y is not a known field.'],
  ];
  for (const [shape, value, message] of words) {
    test(`the rejection is in English: ${message}`, () => {
      assert.equal(validationError(Type.Object({ x: shape }), 'body', { x: value })?.message, message);
    });
  }
});

describe('date-time', () => {
  const good = [
    '2026-11-20T09:00:00Z',
    '2026-11-20t09:00:00z',
    '2026-11-20T09:00:00.123456789Z',
    '2026-11-20T09:00:00+01:00',
    '2026-11-20T09:00:00-23:59',
    '2028-02-29T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ];
  const bad = [
    '2026-11-20',
    '2026-11-20T09:00:00',
    '2026-11-20T09:00Z',
    '2026-11-20 09:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-01:00',
    '+012026-11-20T09:00:00Z',
    '2026-11-20T09:00:00+0100',
    '2026-11-20T09:00:00Z[UTC]',
    'now',
    '',
  ];
  for (const [texts, field] of [
    [good, null],
    [bad, 'at'],
  ] as const) {
    for (const text of texts) {
      test(`"${text}" is ${field === null ? 'taken' : 'refused'}`, () => {
        assert.equal(validationError(Body, 'body', { name: 'x', at: text })?.field ?? null, field);
      });
    }
  }
});

describe('a query', () => {
  const Query = Type.Object({
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }),
    live: Type.Optional(Type.Boolean()),
    q: Type.Optional(Type.String()),
  });

  test('a query is coerced by its schema, gets its defaults, and loses undeclared parameters', () => {
    const read = compileInput(Query, 'query');
    assert.deepEqual(read({}), { limit: 25 });
    assert.deepEqual(read({ limit: '7', live: 'true', other: '1' }), { limit: 7, live: true });
    assert.deepEqual(read({ live: 'false', q: '5' }), { limit: 25, live: false, q: '5' });
  });

  test('a query is rejected when coercion would be ambiguous', () => {
    for (const [value, field] of [
      [{ limit: '0' }, 'limit'],
      [{ limit: '1.5' }, 'limit'],
      [{ limit: '' }, 'limit'],
      [{ limit: ['1', '2'] }, 'limit'],
      [{ live: 'yes' }, 'live'],
      [{ live: '' }, 'live'],
      [{ q: 'a\0b' }, 'q'],
    ] as const) {
      const error = validationError(Query, 'query', value);
      assert.deepEqual([error?.code, error?.field], ['BAD_REQUEST', field], JSON.stringify(value));
    }
  });
});

test('a NUL in a path parameter is 404', () => {
  const error = validationError(Type.Object({ id: Type.String() }), 'params', { id: 'a\0b' });
  assert.deepEqual([error?.code, error?.field], ['NOT_FOUND', undefined]);
});

describe('assertStorable', () => {
  const check = (text: string) => assertNoInvalidText(text, JSON.parse(text));

  test('lets everything through that PostgreSQL can hold', () => {
    check('{"a":"\\ud83c\\udfac","b":["\\u0001","\\\\u0000"]}');
    check('"\\u00e9"');
  });

  test('finds NUL and lone surrogates in values and names', () => {
    for (const [text, field] of [
      ['{"a":{"b":["x","\\u0000"]}}', 'a.b.1'],
      ['{"a":"\\ud800"}', 'a'],
      ['{"a":{"\\udfff":1}}', 'a'],
      ['"\\u0000"', 'body'],
    ] as const) {
      assert.throws(
        () => check(text),
        (error) => error instanceof AppError && error.field === field,
        text,
      );
    }
  });
});
