import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { EditButton } from './change-button.tsx';

interface Props {
  submit: string;
  isPending: boolean;
  /** Absent where the form is always there. */
  onCancel?: () => void;
}

/** The foot of a form. */
export function FormActions({ submit, isPending, onCancel }: Props) {
  const { t } = useTranslation();
  return (
    <Group justify="flex-end">
      {onCancel !== undefined && (
        <Button variant="default" onClick={onCancel}>
          {t('cancel')}
        </Button>
      )}
      <EditButton type="submit" loading={isPending}>
        {submit}
      </EditButton>
    </Group>
  );
}
