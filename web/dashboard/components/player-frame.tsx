import './media.css';
import type { ReactNode } from 'react';

/** The embedded player, as viewers have it; `src` is an embed page of this site. */
export function PlayerFrame({ src, title }: { src: string; title: string }) {
  return (
    <iframe
      className="player-frame"
      src={src}
      title={title}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  );
}

/** Placeholder in the size of the player. */
export function PlayerPlaceholder({ children }: { children: ReactNode }) {
  return <div className="player-waits">{children}</div>;
}
