/** The sign and the name, as on the public pages. */
export function Brand() {
  return (
    <span className="brand">
      <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#1c1714" />
        <g fill="#f6b73c">
          {[7, 25].flatMap((y) =>
            [7, 13, 19, 25].map((x) => <circle key={`${x},${y}`} cx={x} cy={y} r="1.6" />),
          )}
        </g>
        <path
          d="M12.5 11.6v8.8a.9.9 0 0 0 1.37.77l7.1-4.4a.9.9 0 0 0 0-1.54l-7.1-4.4a.9.9 0 0 0-1.37.77Z"
          fill="#fff"
        />
      </svg>
      Marquee
    </span>
  );
}
