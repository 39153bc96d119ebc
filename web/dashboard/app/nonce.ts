/** What the policy of the page wants on style elements (`src/http/dashboard.ts`); empty without a policy. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.nonce ?? '';
