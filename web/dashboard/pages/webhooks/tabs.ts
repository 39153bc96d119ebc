/** What the page of a webhook shows; the address says which. */
export const TABS = ['deliveries', 'pending', 'simulate', 'settings'] as const;
export type Tab = (typeof TABS)[number];
