export type NotificationSeverity = 'INFO' | 'WARNING' | 'CRITICAL';

/** Over which channels something is told. */
export interface NotificationChannels {
  email: boolean;
  inApp: boolean;
}

export interface NotificationTable {
  id: string;
  account_id: string;
  type: string;
  title: string;
  body: string | null;
  severity: NotificationSeverity;
  resource_type: string | null;
  resource_id: string | null;
  action_url: string | null;
  read_at: Date | null;
  created_at: Date;
}

export interface NotificationPreferenceTable {
  account_id: string;
  email: boolean;
  in_app: boolean;
  types: Record<string, NotificationChannels>;
}
