import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showError } from '../../app/toasts.ts';

interface Filter {
  type?: Shape<'Payment'>['type'][];
  status?: Shape<'Payment'>['status'][];
  purchaseId?: string;
  from?: string;
  to?: string;
}

/** Downloads all rows that match the filters as CSV. */
export function CsvButton({ filter }: { filter: Filter }) {
  const { t } = useTranslation('monetization');
  const [isPending, setPending] = useState(false);
  const save = async () => {
    setPending(true);
    try {
      const options = {
        params: { query: filter },
        headers: { Accept: 'text/csv' },
        parseAs: 'blob',
      } as const;
      const { data } = await api.GET('/monetization/payments', options);
      if (data instanceof Blob) download(data, 'payments.csv');
    } catch (error) {
      showError(error);
    } finally {
      setPending(false);
    }
  };
  return (
    <Button variant="default" loading={isPending} onClick={() => void save()}>
      {t('payment.csv')}
    </Button>
  );
}

function download(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
