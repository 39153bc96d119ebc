/** Parameters for reading one page of a list (docs/concepts/conventions.md#lists). */
export interface PageRequest {
  /** Rows to fetch: one more than asked for, to see whether another page follows. */
  fetchLimit: number;
  limit: number;
  order: 'asc' | 'desc';
  /** Rows start behind this id. */
  after: string | null;
  /** ISO 8601. */
  createdAfter: string | null;
  createdBefore: string | null;
}
