import { destinations, integer, type Key, retrySeconds } from './config-parsers.ts';

/** The variables of webhooks, for the table of all. */
export const WEBHOOK_KEYS = {
  WEBHOOK_RETRY_SECONDS: retrySeconds,
  WEBHOOK_TIMEOUT_MS: integer('Response timeout of a delivery.', 10_000, 100, 60_000),
  WEBHOOK_AUTO_DISABLE_DAYS: integer(
    'Days of failures only after which a webhook is disabled; 0 never disables it.',
    0,
    0,
    365,
  ),
  WEBHOOK_ALLOW_PRIVATE: destinations(
    'Private CIDR blocks and host names that webhooks are allowed to reach. For development and tests.',
  ),
} satisfies Record<string, Key<unknown>>;

type Read = <T>(name: string, key: Key<T>) => T;

/** @throws {ConfigError} naming the key. */
export function readWebhooks(read: Read) {
  return {
    WEBHOOK_RETRY_SECONDS: read('WEBHOOK_RETRY_SECONDS', WEBHOOK_KEYS.WEBHOOK_RETRY_SECONDS),
    WEBHOOK_TIMEOUT_MS: read('WEBHOOK_TIMEOUT_MS', WEBHOOK_KEYS.WEBHOOK_TIMEOUT_MS),
    WEBHOOK_AUTO_DISABLE_DAYS: read('WEBHOOK_AUTO_DISABLE_DAYS', WEBHOOK_KEYS.WEBHOOK_AUTO_DISABLE_DAYS),
    WEBHOOK_ALLOW_PRIVATE: read('WEBHOOK_ALLOW_PRIVATE', WEBHOOK_KEYS.WEBHOOK_ALLOW_PRIVATE),
  };
}
