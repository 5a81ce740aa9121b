#!/bin/bash
# A Ray cluster with vLLM on one machine with a GPU and hipo's workers on the others.
# Install the same hipo everywhere: pip install "hipo[ray]"
set -euo pipefail

# on every machine, before anything is started there: vLLM asks for this key, and workers have what Ray was started with
export VLLM_API_KEY="${VLLM_API_KEY:?choose a key, the same on every machine}"

# on the machine with the GPU
vllm serve Qwen/Qwen2.5-7B-Instruct --port 8000 &

# on the head, where the run will lie: with a token, Ray lets in nobody else; on every other machine, with the output of
# `ray get-auth-token` copied there into ~/.ray/auth_token: RAY_AUTH_MODE=token ray start --address=HEAD:6379
ray get-auth-token --generate >/dev/null
RAY_AUTH_MODE=token ray start --head --port=6379

# on the head, when vLLM serves
hipo generate hipo-paper --model compatible/Qwen/Qwen2.5-7B-Instruct --base-url http://gpu-machine:8000/v1 \
  --api-key-env VLLM_API_KEY --executor ray --ray-address auto --workers 8 --max-concurrency 2048 -o /tmp/whole
