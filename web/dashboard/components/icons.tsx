/** Draws a line icon of 24 by 24 units that is hidden from screen readers; its text is next to it. */
export function Icon({ d, size = 20 }: { d: string; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={d} />
    </svg>
  );
}

export const HomeIcon = () => <Icon d="M4 11l8-7 8 7M6 9.5V20h12V9.5M10 20v-6h4v6" />;
export const ChartIcon = () => <Icon d="M4 20h16M6.5 20v-6M12 20V6M17.5 20v-9" />;
export const GaugeIcon = () => <Icon d="M4 18a9 9 0 1 1 16 0M12 14l4-5M12 14h.01" />;
export const CopyIcon = () => <Icon d="M9 9h11v11H9zM5 15H4V4h11v1" />;
export const CheckIcon = () => <Icon d="M5 12.5l4.5 4.5L19 7" />;
export const SearchIcon = () => <Icon d="M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4" />;
export const UserIcon = () => <Icon d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20a7.5 7.5 0 0 1 15 0" />;
export const WarningIcon = () => <Icon d="M12 4l9.5 16h-19zM12 10v4M12 17h.01" />;
export const BroadcastIcon = () => (
  <Icon d="M12 13.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM8.2 15.8a5.4 5.4 0 0 1 0-7.6M15.8 8.2a5.4 5.4 0 0 1 0 7.6M5.3 18.7a9.5 9.5 0 0 1 0-13.4M18.7 5.3a9.5 9.5 0 0 1 0 13.4" />
);
export const RoomsIcon = () => (
  <Icon d="M9 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 4.7a3.5 3.5 0 0 1 0 6.6M18 14a6.5 6.5 0 0 1 3.5 6" />
);
export const AudienceIcon = () => (
  <Icon d="M12 20s-7.5-4.6-7.5-10A4.3 4.3 0 0 1 12 7.2 4.3 4.3 0 0 1 19.5 10c0 5.4-7.5 10-7.5 10z" />
);
export const ChannelIcon = () => (
  <Icon d="M4 5h16v5H4zM8 18.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM13 14.5h7M13 18h5" />
);
export const FilmIcon = () => <Icon d="M4 5h16v14H4zM8 5v14M16 5v14M4 9.5h4M4 14.5h4M16 9.5h4M16 14.5h4" />;
export const BellIcon = () => <Icon d="M6 16V11a6 6 0 1 1 12 0v5l1.5 2h-15zM10 20.5h4" />;
export const MailIcon = () => <Icon d="M3.5 6h17v12h-17zM4 6.5l8 6.5 8-6.5" />;
export const KeyIcon = () => <Icon d="M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 12h9M18 12v4M21 12v3" />;
export const WebhookIcon = () => (
  <Icon d="M9 8a3.5 3.5 0 1 1 5 3l3 5M12 8l-4 8M6 13a3.5 3.5 0 1 0 3.5 4H17M17 16a3.5 3.5 0 1 1-2 4" />
);
export const EventIcon = () => <Icon d="M13 3L5 14h6l-1 7 8-11h-6z" />;
export const RequestIcon = () => <Icon d="M4 8h13l-3-3M20 16H7l3 3" />;
export const DomainIcon = () => (
  <Icon d="M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18" />
);
export const MoneyIcon = () => (
  <Icon d="M3 6.5h18v11H3zM12 14.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM6.5 12h.01M17.5 12h.01" />
);
export const CalendarIcon = () => <Icon d="M4 6h16v14H4zM4 10.5h16M8 3.5V8M16 3.5V8M8.5 15l2.5 2.5 4.5-5" />;
