#include "examples.hpp"

EXAMPLE("nn::Accuracy") {
  nn::Accuracy metric;
  metric.update_state(K::constant({1., 2., 3.}), K::constant({1., 2., 4.}));
  std::cout << metric.result();
}

EXAMPLE("nn::BinaryAccuracy nn::BinaryAccuracyOptions") {
  nn::BinaryAccuracy metric({.threshold = 0.5});
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::CategoricalAccuracy") {
  nn::CategoricalAccuracy metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::SparseCategoricalAccuracy") {
  nn::SparseCategoricalAccuracy metric;
  metric.update_state(K::constant({1., 0.}), K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::TopKCategoricalAccuracy nn::TopKOptions") {
  nn::TopKCategoricalAccuracy metric({.k = 1});
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::SparseTopKCategoricalAccuracy") {
  nn::SparseTopKCategoricalAccuracy metric({.k = 1});
  metric.update_state(K::constant({1., 0.}), K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::TruePositives") {
  nn::TruePositives metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::TrueNegatives") {
  nn::TrueNegatives metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::FalsePositives") {
  nn::FalsePositives metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::FalseNegatives") {
  nn::FalseNegatives metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::Precision") {
  nn::Precision metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::Recall") {
  nn::Recall metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::AUC nn::AUCOptions") {
  nn::AUC metric;
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::PrecisionAtRecall nn::PrecisionAtRecallOptions") {
  nn::PrecisionAtRecall metric({.recall = 0.5});
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::RecallAtPrecision nn::RecallAtPrecisionOptions") {
  nn::RecallAtPrecision metric({.precision = 0.5});
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::SensitivityAtSpecificity nn::SensitivityAtSpecificityOptions") {
  nn::SensitivityAtSpecificity metric({.specificity = 0.5});
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::SpecificityAtSensitivity nn::SpecificityAtSensitivityOptions") {
  nn::SpecificityAtSensitivity metric({.sensitivity = 0.5});
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::IoU nn::IoUOptions") {
  nn::IoU metric({.num_classes = 2, .target_class_ids = {1}});
  metric.update_state(K::constant({0., 1., 1., 0.}), K::constant({0., 1., 0., 0.}));
  std::cout << metric.result();
}

EXAMPLE("nn::MeanIoU nn::MeanIoUOptions") {
  nn::MeanIoU metric({.num_classes = 2});
  metric.update_state(K::constant({0., 1., 1., 0.}), K::constant({0., 1., 0., 0.}));
  std::cout << metric.result();
}

EXAMPLE("nn::BinaryIoU nn::BinaryIoUOptions") {
  nn::BinaryIoU metric({.target_class_ids = {1}});
  metric.update_state(K::constant({0., 1., 1., 0.}),
                      K::constant({0.1, 0.8, 0.4, 0.3}));
  std::cout << metric.result();
}

EXAMPLE("nn::OneHotIoU nn::OneHotIoUOptions") {
  nn::OneHotIoU metric({.num_classes = 2, .target_class_ids = {1}});
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::OneHotMeanIoU nn::OneHotMeanIoUOptions") {
  nn::OneHotMeanIoU metric({.num_classes = 2});
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::F1Score nn::F1ScoreOptions") {
  nn::F1Score metric({.threshold = 0.5});
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::FBetaScore nn::FBetaScoreOptions") {
  nn::FBetaScore metric({.beta = 2, .threshold = 0.5});
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::R2Score nn::R2ScoreOptions") {
  nn::R2Score metric;
  metric.update_state(K::constant({{1.}, {2.}, {3.}}),
                      K::constant({{1.1}, {2.}, {2.7}}));
  std::cout << metric.result();
}

EXAMPLE("nn::RootMeanSquaredError") {
  nn::RootMeanSquaredError metric;
  metric.update_state(K::constant({1., 2.}), K::constant({1., 4.}));
  std::cout << metric.result();
}

EXAMPLE("nn::LogCoshError") {
  nn::LogCoshError metric;
  metric.update_state(K::constant({1., 2.}), K::constant({1., 4.}));
  std::cout << metric.result();
}

EXAMPLE("nn::PearsonCorrelation nn::CorrelationOptions") {
  nn::PearsonCorrelation metric;
  metric.update_state(K::constant({{1., 2., 3.}}), K::constant({{1., 2., 4.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::ConcordanceCorrelation") {
  nn::ConcordanceCorrelation metric;
  metric.update_state(K::constant({{1., 2., 3.}}), K::constant({{1., 2., 4.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::MeanAbsoluteError") {
  nn::metrics::MeanAbsoluteError metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::MeanAbsolutePercentageError") {
  nn::metrics::MeanAbsolutePercentageError metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::MeanSquaredError") {
  nn::metrics::MeanSquaredError metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::MeanSquaredLogarithmicError") {
  nn::metrics::MeanSquaredLogarithmicError metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::Hinge") {
  nn::metrics::Hinge metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::SquaredHinge") {
  nn::metrics::SquaredHinge metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::CategoricalHinge") {
  nn::metrics::CategoricalHinge metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::KLDivergence") {
  nn::metrics::KLDivergence metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::Poisson") {
  nn::metrics::Poisson metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::CosineSimilarity") {
  nn::metrics::CosineSimilarity metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::BinaryCrossentropy") {
  nn::metrics::BinaryCrossentropy metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::CategoricalCrossentropy") {
  nn::metrics::CategoricalCrossentropy metric;
  metric.update_state(K::constant({{0., 1.}, {1., 0.}}),
                      K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::SparseCategoricalCrossentropy") {
  nn::metrics::SparseCategoricalCrossentropy metric;
  metric.update_state(K::constant({1., 0.}), K::constant({{0.2, 0.8}, {0.4, 0.6}}));
  std::cout << metric.result();
}

EXAMPLE("nn::Mean") {
  nn::Mean metric;
  metric.update_state(K::constant({1., 2., 6.}));
  std::cout << metric.result();
}

EXAMPLE("nn::Sum") {
  nn::Sum metric;
  metric.update_state(K::constant({1., 2., 6.}));
  std::cout << metric.result();
}

EXAMPLE("nn::Metric") {
  nn::Metric metric = "mae";
  metric.update_state(K::constant({{1.}, {2.}}), K::constant({{1.}, {4.}}));
  std::cout << metric.result();
}

EXAMPLE("nn::metrics::binary_accuracy") {
  std::cout << nn::metrics::binary_accuracy(K::constant({{0., 1.}}),
                                            K::constant({{0.2, 0.4}}));
}

EXAMPLE(
    "nn::metrics::categorical_accuracy nn::metrics::top_k_categorical_accuracy") {
  Tensor y = K::constant({{0., 1.}, {1., 0.}}),
         p = K::constant({{0.2, 0.8}, {0.4, 0.6}});
  std::cout << nn::metrics::categorical_accuracy(y, p) << " "
            << nn::metrics::top_k_categorical_accuracy(y, p, 2);
}

EXAMPLE(
    "nn::metrics::sparse_categorical_accuracy "
    "nn::metrics::sparse_top_k_categorical_accuracy") {
  Tensor y = K::constant({1., 0.}), p = K::constant({{0.2, 0.8}, {0.4, 0.6}});
  std::cout << nn::metrics::sparse_categorical_accuracy(y, p) << " "
            << nn::metrics::sparse_top_k_categorical_accuracy(y, p, 2);
}

EXAMPLE("nn::metrics::name_of") {
  std::cout << nn::metrics::name_of(nn::any_function(nn::metrics::binary_accuracy));
}
