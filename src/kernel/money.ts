const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** As people read it: `$5.00`. */
export function money(cents: number): string {
  return dollars.format(cents / 100);
}

/** The words of intervals, after a price: `$5.00 a month`. */
export const every = { MONTH: 'month', YEAR: 'year' } as const;
