import type { Key } from './config-kinds.ts';

const fee: Key<number> = {
  description:
    'Of every payment, what the platform keeps, in percent: 0 to 100, with up to two decimals. See `docs/guides/money.md`.',
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

/** Of the table in the README, what is about money. */
export const MONEY_KEYS = { PLATFORM_FEE_PERCENT: fee };
export type MoneyKeys = keyof typeof MONEY_KEYS;

export interface MoneyConfig {
  /** Hundredths of a percent. */
  readonly PLATFORM_FEE_PERCENT: number;
}

type Read = <T>(name: string, key: Key<T>) => T | undefined;

/** @throws {ConfigError} naming the key. */
export function readMoney(read: Read): MoneyConfig {
  return { PLATFORM_FEE_PERCENT: read('PLATFORM_FEE_PERCENT', MONEY_KEYS.PLATFORM_FEE_PERCENT) ?? 0 };
}
