import { Group, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from './copy-button.tsx';

/** Shows a value to copy: an ID, a URL, a key. */
export function CopyField({
  label,
  value,
  description,
}: {
  label: string;
  value: string;
  description?: string;
}) {
  const { t } = useTranslation();
  return (
    <Group gap={4} align="flex-end" wrap="nowrap">
      <TextInput
        readOnly
        label={label}
        value={value}
        {...(description === undefined ? {} : { description })}
        onFocus={(event) => event.currentTarget.select()}
        spellCheck={false}
        dir="ltr"
        flex={1}
        miw={0}
      />
      <CopyButton value={value} label={t('copy', { what: label })} />
    </Group>
  );
}

/** A command to try, with its copy button: the curl line of a first step. */
export function CodeLine({ label, code }: { label: string; code: string }) {
  const { t } = useTranslation();
  return (
    <div>
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" fw={500}>
          {label}
        </Text>
        <CopyButton value={code} label={t('copy', { what: label })} />
      </Group>
      <pre className="code-line" dir="ltr">
        {code}
      </pre>
    </div>
  );
}
