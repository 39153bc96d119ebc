/** Tabs of the webhook page; the URL selects one. */
export const TABS = ['deliveries', 'pending', 'simulate', 'settings'] as const;
export type Tab = (typeof TABS)[number];
