import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import type { Clock } from '../../src/kernel/clock.ts';
import { startTestApp, type TestApp } from '../harness/app.ts';
import type { TestResponse } from '../harness/response.ts';

export const PASSWORD = 'correct horse battery staple';

/** An account that can sign in, and a key of it. */
export interface Person {
  id: string;
  email: string;
  password: string;
  key: string;
}

/** Program for the sign-in tests: each request has its own IP address by default. */
export interface AuthFixture {
  app: TestApp;
  person(options?: { suspended?: boolean }): Promise<Person>;
  post(path: string, key: string, body: unknown, from?: string): Promise<TestResponse>;
  login(person: Person, from?: string): Promise<TestResponse>;
  /** A user token. */
  token(person: Person): Promise<string>;
  /** Sends a request as the user: with the key and the token. */
  asUser(method: string, path: string, person: Person, token: string, body?: unknown): Promise<TestResponse>;
  /** Turns the second factor on. */
  enrol(person: Person, token: string): Promise<{ secret: string; recoveryCodes: string[] }>;
  /** Returns the texts of the emails to an address, oldest first, after running the worker. */
  mailsTo(email: string): Promise<string[]>;
  close(): Promise<void>;
}

let count = 0;

/** Returns a unique IP address for each caller. */
export function newAddress(): string {
  count += 1;
  return `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
}

export async function startAuthFixture(
  clock?: Clock,
  env: Record<string, string> = {},
  databaseUrl?: string,
): Promise<AuthFixture> {
  const app = await startTestApp({
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    env: { TRUST_PROXY: 'true', ...env },
    ...(clock === undefined ? {} : { clock }),
  });
  const { accounts, auth, mailbox } = app.container;

  const post: AuthFixture['post'] = (path, key, body, from = newAddress()) =>
    app.request('POST', path, { key, body, headers: { 'x-forwarded-for': from } });
  const asUser: AuthFixture['asUser'] = (method, path, { key }, token, body) =>
    app.request(method, path, {
      key,
      headers: { 'x-user-token': token },
      ...(body === undefined ? {} : { body }),
    });
  const login: AuthFixture['login'] = ({ key, email, password }, from) =>
    post('/auth/login', key, { email, password }, from);

  return {
    app,
    post,
    asUser,
    login,
    async person({ suspended = false } = {}) {
      count += 1;
      const email = `person${count}@example.com`;
      const { id } = await accounts.create({ email, password: PASSWORD, verified: true });
      const { key } = await app.container.apiKeys.create({ email, scope: 'FULL_ACCESS' });
      if (suspended) await accounts.suspend(email);
      return { id, email, password: PASSWORD, key };
    },
    token: async (person) => (await login(person)).string('tokens.accessToken'),
    async enrol(person, token) {
      const made = await asUser('POST', '/me/two-factor', person, token, { password: person.password });
      const secret = made.string('data.secret');
      const code = totp(secret, app.container.clock.ms());
      const confirmed = await asUser('POST', '/me/two-factor/confirm', person, token, { code });
      return { secret, recoveryCodes: confirmed.list('data.recoveryCodes').map(String) };
    },
    async mailsTo(email) {
      await auth.links.sendRequested();
      const mails = (await mailbox.list()).filter((mail) => mail.to === email).reverse();
      return Promise.all(mails.map(async ({ id }) => (await mailbox.get(id)).text ?? ''));
    },
    close: () => app.close(),
  };
}

/** The code of an authenticator app at this time. */
export function totp(secret: string, timestamp: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
}

/** Returns the token of the link in an email. */
export function linkToken(text: string | undefined): string {
  const token = /\?token=([\w-]{43})\s/.exec(text ?? '')?.[1];
  assert.ok(token !== undefined, `there is a link in: ${text}`);
  return token;
}
