import { ConfigError, type Key, text, url } from './config-parsers.ts';

const fee: Key<number> = {
  description:
    'Platform fee in percent of each payment: 0 to 100, with up to two decimals. See `docs/guides/money.md`.',
  fallback: '0',
  parse: (value) => {
    const [, whole = '', part = ''] = /^(\d{1,3})(?:[.](\d{1,2}))?$/.exec(value) ?? [];
    const hundredths = Number(whole) * 100 + Number(part.padEnd(2, '0'));
    if (whole === '' || hundredths > 10_000) {
      throw new Error('must be a number from 0 to 100 with at most two decimals');
    }
    return hundredths;
  },
};

const webhookSecrets: Key<string[]> = {
  description:
    'Signing secrets of the Stripe webhook endpoints (`whsec_…`), comma-separated: for the platform and for connected accounts.',
  fallback: null,
  parse: (value) => {
    const secrets = value.split(',').map((one) => one.trim());
    if (secrets.some((one) => !/^whsec_\w+$/.test(one)))
      throw new Error('must be secrets that start with whsec_');
    return secrets;
  },
};

/** Configuration keys of payments. */
export const MONEY_KEYS = {
  PLATFORM_FEE_PERCENT: fee,
  STRIPE_SECRET_KEY: {
    ...text(
      'Stripe secret key (`sk_…` or `rk_…`) for payments in live mode. Unset: live mode also uses the sandbox, where no money moves. See `docs/guides/money.md`.',
    ),
    parse: (value: string) => {
      if (!/^[sr]k_\w+$/.test(value)) throw new Error('must be a Stripe secret key: sk_… or rk_…');
      return value;
    },
  },
  STRIPE_WEBHOOK_SECRET: webhookSecrets,
  STRIPE_API_URL: url('Base URL of the Stripe API, for tests with a mock.', ['http:', 'https:']),
} satisfies Record<string, Key<unknown>>;
export type MoneyKeys = keyof typeof MONEY_KEYS;

export interface MoneyConfig {
  /** Hundredths of a percent. */
  readonly PLATFORM_FEE_PERCENT: number;
  /** It and the secrets are there together, or neither. */
  readonly STRIPE_SECRET_KEY: string | undefined;
  readonly STRIPE_WEBHOOK_SECRET: readonly string[];
  readonly STRIPE_API_URL: string | undefined;
}

type Read = <T>(name: string, key: Key<T>) => T | undefined;

/** @throws {ConfigError} naming the key. */
export function readMoney(read: Read): MoneyConfig {
  const secrets = read('STRIPE_WEBHOOK_SECRET', MONEY_KEYS.STRIPE_WEBHOOK_SECRET) ?? [];
  const config = {
    PLATFORM_FEE_PERCENT: read('PLATFORM_FEE_PERCENT', MONEY_KEYS.PLATFORM_FEE_PERCENT) ?? 0,
    STRIPE_SECRET_KEY: read('STRIPE_SECRET_KEY', MONEY_KEYS.STRIPE_SECRET_KEY),
    STRIPE_WEBHOOK_SECRET: secrets,
    STRIPE_API_URL: read('STRIPE_API_URL', MONEY_KEYS.STRIPE_API_URL),
  };
  if ((config.STRIPE_SECRET_KEY === undefined) !== (secrets.length === 0)) {
    throw new ConfigError('STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must both be set');
  }
  return config;
}
