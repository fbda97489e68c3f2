#!/bin/sh
# Offers a review before a commit: what is printed is shown to the assistant, and nothing is stopped.
input=$(cat)
case "$input" in
*'git commit'*) ;;
*) exit 0 ;;
esac
command -v quorum >/dev/null 2>&1 || exit 0
git diff --cached --quiet 2>/dev/null && exit 0
cat <<'EOF'
{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"Staged changes are about to be committed. If they were not reviewed yet, offer the user a review first: /consensus-review staged"}}
EOF
