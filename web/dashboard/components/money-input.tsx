import { NumberInput, type NumberInputProps } from '@mantine/core';
import { currentLocale } from '../app/i18n.ts';

/** Value of a number input: '' when it is empty. */
export type MoneyInputValue = number | string;

const MAX_CENTS = 99_999_999;

/** Converts dollars from the input to cents; null for an empty input. */
export function centsOf(entered: MoneyInputValue): number | null {
  return entered === '' ? null : Math.round(Number(entered) * 100);
}

/** Converts cents to the initial value of a `MoneyInput`. */
export function dollarsOf(cents: number | null): MoneyInputValue {
  return cents === null ? '' : cents / 100;
}

/** A price in dollars and cents; both signs that languages write before the cents are taken. */
export function MoneyInput(props: NumberInputProps) {
  const parts = new Intl.NumberFormat(currentLocale()).formatToParts(0.5);
  return (
    <NumberInput
      size="md"
      min={0}
      max={MAX_CENTS / 100}
      decimalScale={2}
      decimalSeparator={parts.find(({ type }) => type === 'decimal')?.value ?? '.'}
      allowedDecimalSeparators={['.', ',']}
      allowNegative={false}
      hideControls
      {...props}
    />
  );
}
