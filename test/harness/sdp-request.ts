/** Response to clients of WHIP and WHEP; `error` is empty if there is none. */
export interface SdpAnswer {
  status: number;
  headers: Headers;
  error: Record<string, unknown>;
}

/** Calls outside the API as those clients do: with a body that is no JSON, or none. */
export function sdpCaller(app: () => { url: string }) {
  return async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<SdpAnswer> => {
    const response = await fetch(app().url + path, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    const { error = {} } = response.ok || text === '' ? {} : Object(JSON.parse(text));
    return { status: response.status, headers: response.headers, error: Object(error) };
  };
}
