/** Credentials of this tab for the room. Stored per tab, so that a reload is the same participant. */
export interface Pass {
  token: string;
  /** Token of the last connection; empty before the first one. */
  resumeToken: string;
  /** Name of a guest, who has no token; empty for others, whose token contains their name. */
  name: string;
}

const NAME = 'marquee-room-name';

/** Credentials for one room: from the URL, from this tab, or requested with a name. */
export class JoinTokens {
  readonly #roomId: string;
  readonly #address: string;

  /** @param address URL that issues a token for a name. */
  constructor(roomId: string, address: string) {
    this.#roomId = roomId;
    this.#address = address;
  }

  /** Reads `#token=…`, and removes it from the address bar and the history. */
  fromAddress(): Pass | null {
    const token = new URLSearchParams(location.hash.slice(1)).get('token');
    if (token === null || token === '') return null;
    history.replaceState(null, '', location.pathname + location.search);
    const pass = { token, resumeToken: '', name: '' };
    this.keep(pass);
    return pass;
  }

  kept(): Pass | null {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(this.#key) ?? 'null');
      if (typeof kept !== 'object' || kept === null) return null;
      if (!('token' in kept) || !('resumeToken' in kept)) return null;
      const name = 'name' in kept ? String(kept.name) : '';
      return { token: String(kept.token), resumeToken: String(kept.resumeToken), name };
    } catch {
      return null;
    }
  }

  keep(pass: Pass | null): void {
    try {
      if (pass === null) sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, JSON.stringify(pass));
    } catch {
      // Storage is unavailable: a reload asks for the name again.
    }
  }

  /** Requests a token. @returns the credentials, or an error message. */
  async ask(name: string): Promise<Pass | string> {
    const answer = await fetch(this.#address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    }).catch(() => null);
    if (answer === null) return 'Cannot reach the server. Check your connection and try again.';
    const body: { data?: { token?: string }; error?: { message?: string } | string } = await answer
      .json()
      .catch(() => ({}));
    const token = body.data?.token;
    if (answer.ok && token !== undefined) {
      const pass = { token, resumeToken: '', name };
      this.keep(pass);
      return pass;
    }
    if (answer.status === 429)
      return 'Too many attempts to join from this network. Wait a minute, then try again.';
    const error = typeof body.error === 'string' ? body.error : body.error?.message;
    return error ?? 'Something went wrong. Try again.';
  }

  get #key(): string {
    return `marquee-room:${this.#roomId}`;
  }
}

/** The name of the last visit to any room. */
export function storedName(): string {
  try {
    return localStorage.getItem(NAME) ?? '';
  } catch {
    return '';
  }
}

export function storeName(name: string): void {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // Storage is unavailable, so there is nothing to remove.
  }
}
