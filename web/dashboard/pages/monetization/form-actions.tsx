import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Props {
  submit: string;
  isPending: boolean;
  onCancel: () => void;
}

/** The foot of a form that is opened in place. */
export function FormActions({ submit, isPending, onCancel }: Props) {
  const { t } = useTranslation('monetization');
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {t('form.cancel')}
      </Button>
      <Button type="submit" loading={isPending}>
        {submit}
      </Button>
    </Group>
  );
}
