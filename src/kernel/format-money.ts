const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** As people read it: `$5.00`. */
export function formatMoney(cents: number): string {
  return dollars.format(cents / 100);
}

/** The words of intervals, after a price: `$5.00 a month`. */
export const INTERVAL_LABELS = { MONTH: 'month', YEAR: 'year' } as const;
