import assert from 'node:assert/strict';
import type { TestApp } from '../harness/app.ts';
import type { TestResponse } from '../harness/response.ts';
import { newAddress, PASSWORD } from './fixture.ts';

interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
  /** API key sent in addition to the cookie. */
  key?: string;
}

/** The origin of the platform's pages, as `startTestApp` configures it. */
export const OWN_ORIGIN = 'http://marquee.test';

/** Browser with an open dashboard: stores the cookie, and sends the headers that its pages send. */
export class Browser {
  /** `name=value`, as it is sent back. */
  cookie: string | null = null;
  csrfToken = '';
  lastSetCookie = '';
  readonly #app: TestApp;
  readonly #ip: string;
  readonly #origin: string;

  constructor(
    app: TestApp,
    { ip = newAddress(), origin = OWN_ORIGIN }: { ip?: string; origin?: string } = {},
  ) {
    this.#app = app;
    this.#ip = ip;
    this.#origin = origin;
  }

  /** Returns the browser on another node. */
  at(app: TestApp): Browser {
    const other = new Browser(app, { ip: this.#ip, origin: this.#origin });
    other.cookie = this.cookie;
    other.csrfToken = this.csrfToken;
    return other;
  }

  async send(method: string, path: string, { body, headers, key }: Sent = {}): Promise<TestResponse> {
    const isSafe = method === 'GET' || method === 'HEAD';
    const answer = await this.#app.request(method, path, {
      headers: {
        'x-forwarded-for': this.#ip,
        'user-agent': 'test browser',
        ...(this.cookie === null ? {} : { cookie: this.cookie }),
        ...(isSafe ? {} : { origin: this.#origin, 'x-csrf-token': this.csrfToken }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(key === undefined ? {} : { key }),
    });
    this.#keep(answer);
    return answer;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<TestResponse> {
    return this.send('GET', path, { headers });
  }

  /** @returns the response, which is a 201. */
  async signIn({ email, password = PASSWORD }: { email: string; password?: string }): Promise<TestResponse> {
    const answer = await this.send('POST', '/auth/session', { body: { email, password } });
    return this.begun(answer);
  }

  /** Stores the token of a new session. */
  begun(answer: TestResponse): TestResponse {
    this.csrfToken = answer.assertOk(201).string('data.csrfToken');
    assert.ok(this.cookie !== null, 'a session has a cookie');
    return answer;
  }

  #keep(answer: TestResponse): void {
    const set = answer.headers['set-cookie'];
    if (set === undefined) return;
    this.lastSetCookie = set;
    const [pair = ''] = set.split(';', 1);
    this.cookie = /; Max-Age=0(;|$)/.test(set) ? null : pair;
  }
}
