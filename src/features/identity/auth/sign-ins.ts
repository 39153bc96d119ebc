import type { Tx } from '../../../platform/db/index.ts';
import type { Sessions } from './sessions.service.ts';
import type { UserTokens } from './tokens.service.ts';

/** Current credential, which survives when the other sign-ins of the account end. */
export interface CurrentCredential {
  tokenId: string | null;
  sessionId: string | null;
}

/** Current credential with the IP address of the request. */
export interface Acting extends CurrentCredential {
  ip: string;
}

export const NO_CREDENTIAL: CurrentCredential = { tokenId: null, sessionId: null };

/** Revocation of all user tokens and sessions of a person. */
export interface SignInRevocation {
  /** Call `forget` after the commit. */
  endAll(tx: Tx, accountId: string, keep: CurrentCredential): Promise<void>;
  forget(): void;
}

interface Deps {
  tokens: Pick<UserTokens, 'endAll' | 'forget'>;
  sessions: Pick<Sessions, 'endAll' | 'forget'>;
}

export function createSignIns({ tokens, sessions }: Deps): SignInRevocation {
  return {
    async endAll(tx, accountId, { tokenId, sessionId }) {
      await tokens.endAll(tx, accountId, tokenId);
      await sessions.endAll(tx, accountId, sessionId);
    },
    forget() {
      tokens.forget();
      sessions.forget();
    },
  };
}
