/** Server in the form of RTCPeerConnection's `iceServers`. */
export interface IceServer {
  urls: readonly string[];
  username?: string;
  credential?: string;
}

/** Returns STUN and TURN servers as a `Link` header (RFC 9725, section 4.6); empty without servers. */
export function iceLinks(servers: readonly IceServer[]): string {
  return servers
    .flatMap(({ urls, username, credential }) =>
      urls.map((url) => {
        const secret =
          username === undefined || credential === undefined
            ? ''
            : `; username="${username}"; credential="${credential}"; credential-type="password"`;
        return `<${url}>; rel="ice-server"${secret}`;
      }),
    )
    .join(', ');
}
