import type { Generated } from 'kysely';

export type DomainStatus = 'PENDING' | 'VERIFIED' | 'FAILED' | 'LAPSED';
export type DomainProof = 'DNS_TXT' | 'WELL_KNOWN';

export interface IntegrationDomainTable {
  id: string;
  workspace_id: string;
  domain: string;
  include_subdomains: boolean;
  status: DomainStatus;
  method: DomainProof | null;
  token: string;
  txt_verified: boolean;
  pending_since: Date | null;
  checks: number;
  failing_since: Date | null;
  last_checked_at: Date | null;
  last_error: string | null;
  verified_at: Date | null;
  next_check_at: Date | null;
  event_sequence: Generated<number>;
  created_at: Date;
}
