/**
 * Nonce that the page's Content-Security-Policy requires on style elements (`src/http/dashboard.ts`); empty
 * without a policy.
 */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.nonce ?? '';
