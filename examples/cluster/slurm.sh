#!/bin/bash
# One Ray over the nodes of a SLURM job, and one monge run on it:   sbatch slurm.sh pairs.parquet OUT
# OUT, the input and the model must lie on a file system that all nodes see. Submitted again after a time limit or a
# failure, the same command does what is missing.
#SBATCH --job-name=monge
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
set -euo pipefail
input=$1 output=$2
export RAY_USAGE_STATS_ENABLED=0

nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
head=${nodes[0]}
address=$(srun --nodes=1 --ntasks=1 -w "$head" hostname --ip-address | awk '{print $1}')
port=$((20000 + SLURM_JOB_ID % 20000))

# Ray has no password by itself: the address must be one that only this cluster's network reaches.
srun --nodes=1 --ntasks=1 -w "$head" \
  ray start --head --node-ip-address="$address" --port="$port" --num-cpus="$SLURM_CPUS_PER_TASK" \
  --include-dashboard=false --disable-usage-stats --block &
sleep 15
for node in "${nodes[@]:1}"; do
  srun --nodes=1 --ntasks=1 -w "$node" \
    ray start --address="$address:$port" --num-cpus="$SLURM_CPUS_PER_TASK" --disable-usage-stats --block &
done
sleep 15

srun --overlap --nodes=1 --ntasks=1 -w "$head" \
  monge score "$input" -m twmd -m bertscore --ci --engine ray --address "$address:$port" -o "$output" --log-json
