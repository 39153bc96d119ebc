import assert from 'node:assert/strict';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';
import { recordObserved } from './contract-coverage.ts';

type RawHeaders = Record<string, string | string[] | undefined>;

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Response of the API, with common assertions. */
export class TestResponse {
  readonly status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;

  constructor(status: number, headers: RawHeaders, text: string) {
    this.status = status;
    this.headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    );
    this.text = text;
  }

  get json(): unknown {
    return JSON.parse(this.text);
  }

  /** The value at a path such as `data.0.id`; undefined where there is none. */
  at(path: string): unknown {
    return path.split('.').reduce<unknown>((node, name) => childOf(node, name), this.json);
  }

  string(path: string): string {
    const value = this.at(path);
    assert.ok(typeof value === 'string', `${path} of ${this.text.slice(0, 300)} must be a string`);
    return value;
  }

  list(path: string): unknown[] {
    const value = this.at(path);
    assert.ok(Array.isArray(value), `${path} of ${this.text.slice(0, 300)} must be an array`);
    return value;
  }

  /** A success with this status: the envelope has exactly `success` and `data`, and `pagination` on lists. */
  assertOk(status: number): this {
    assert.equal(this.status, status, this.text);
    this.assertCommonHeaders();
    assert.equal(this.at('success'), true);
    const names = Object.keys(Object(this.json));
    assert.deepEqual(
      names.sort(),
      this.at('pagination') ? ['data', 'pagination', 'success'] : ['data', 'success'],
    );
    return this;
  }

  /**
   * Exactly the error envelope of docs/concepts/conventions.md#envelopes, with the status that the code has, and the
   * usual headers.
   */
  assertError(code: ErrorCode, field?: string): this {
    assert.equal(this.at('error.code'), code, this.text);
    recordObserved(code);
    assert.equal(this.status, ERRORS[code].status);
    this.assertCommonHeaders();
    assert.match(this.headers['content-type'] ?? '', /^application\/json\b/);
    const message = this.string('error.message');
    assert.ok(message.length > 0);
    const error = field === undefined ? { code, message } : { code, message, field };
    assert.deepEqual(this.json, { success: false, error });
    return this;
  }

  /**
   * Asserts the headers of every response (docs/concepts/conventions.md#headers,
   * docs/concepts/conventions.md#versions).
   */
  assertCommonHeaders(): this {
    assert.match(this.headers['x-svc-request-id'] ?? '', UUID_V4);
    assert.equal(this.headers['svc-api-version'], '1.0.0');
    return this;
  }

  /** The headers of docs/concepts/conventions.md#rate-limits are there, or none of them. */
  assertRateLimited(expected: boolean): this {
    const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'svc-key-mode'];
    const present = names.filter((name) => this.headers[name] !== undefined);
    assert.deepEqual(present, expected ? names : [], `${this.status} ${this.text}`);
    return this;
  }
}

function childOf(node: unknown, name: string): unknown {
  if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
  return Object.getOwnPropertyDescriptor(node, name)?.value;
}
