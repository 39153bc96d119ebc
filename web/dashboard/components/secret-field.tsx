import { Group, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './copy-button.tsx';

interface Props {
  label: string;
  value: string;
  /** The part of the value that is secret; the rest is always shown. */
  secret: string;
  isShown: boolean;
  description?: string;
}

const MASK = '•'.repeat(12);

/** Shows a value that contains a secret: masked until revealed, and copied whole without being shown. */
export function SecretField({ label, value, secret, isShown, description }: Props) {
  const { t } = useTranslation();
  return (
    <Group gap={4} align="flex-end" wrap="nowrap">
      <TextInput
        readOnly
        label={label}
        value={isShown ? value : value.replace(secret, MASK)}
        {...(description === undefined ? {} : { description })}
        spellCheck={false}
        autoComplete="off"
        dir="ltr"
        flex={1}
        miw={0}
      />
      <CopyButton value={value} label={t('copy', { what: label })} />
    </Group>
  );
}
