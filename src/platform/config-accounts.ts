import { email, type Key, url } from './config-parsers.ts';

/** The variables about whom people have to do with, for the table of all. */
export const PEOPLE_KEYS = {
  TERMS_URL: url('URL of the terms that people accept when they register in the dashboard.', [
    'http:',
    'https:',
  ]),
  ABUSE_EMAIL: email(
    'Email address that receives reports of videos, streams and channels. Unset: reports are not emailed.',
    null,
  ),
} satisfies Record<string, Key<unknown>>;

/** Configuration keys whose values may be absent. */
export type PeopleKeys = 'TERMS_URL' | 'ABUSE_EMAIL';

export interface PeopleConfig {
  readonly TERMS_URL: string | undefined;
  readonly ABUSE_EMAIL: string | undefined;
}

/** @throws {ConfigError} naming the key. */
export function readPeople(read: <T>(name: string, key: Key<T>) => T | undefined) {
  return {
    TERMS_URL: read('TERMS_URL', PEOPLE_KEYS.TERMS_URL),
    ABUSE_EMAIL: read('ABUSE_EMAIL', PEOPLE_KEYS.ABUSE_EMAIL),
  };
}
